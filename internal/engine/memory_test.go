package engine_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestAConnectionThatHasUsedTooManyQueuesIsReplaced(t *testing.T) {
	db := pgtest.New(t, pgtest.Options{})
	cfg := get[*pgxpool.Config](t)(pgxpool.ParseConfig(db.DSN))
	cfg.MaxConns = 1
	engine.BoundMemory(cfg, 2)
	pool := get[*pgxpool.Pool](t)(pgxpool.NewWithConfig(t.Context(), cfg))
	defer pool.Close()
	client := engine.New(pool)
	backend := func() (pid int) {
		if err := pool.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	first := backend()
	use := func(queue string, want int) {
		t.Helper()
		get[int64](t)(client.Send(t.Context(), queue, engine.Outgoing{Payload: []byte("1")}, engine.SendOptions{}))
		if replaced := backend() != first; replaced != (want > 2) {
			t.Errorf("after %d queues the connection was replaced: %t", want, replaced)
		}
	}
	for _, queue := range []string{"a", "b", "c"} {
		must(t, open(t, db).CreateQueue(t.Context(), queue, engine.QueueOptions{}))
	}
	use("a", 1)
	use("b", 2)
	use("a", 2)
	use("c", 3)
}

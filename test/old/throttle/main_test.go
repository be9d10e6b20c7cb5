// Package throttle_test holds what a group's own limits promise: that no more of its messages are claimed and
// unfinished at once, and no more are delivered in a time, than it was told, whatever races, fails or expires; that
// what ends makes room at once; and that nothing is lost or waits for ever because of a limit.
package throttle_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "jobs"

// bench is one test's database with a queue, its group "limited", and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
	conn  surface.Conn
}

// each runs a test on every PostgreSQL, with a queue of two lanes and a group of the given settings.
func each(t *testing.T, settings string, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, "lanes => 2", func(t *testing.T, db *pgtest.DB) {
		b := bench{t, db, surface.StoppedClock(t, db), db.Pool(t)}
		b.ok("select weir.create_group('jobs', 'limited', " + settings + ")")
		test(b)
	})
}

func (b bench) ok(sql string) {
	b.Helper()
	if _, err := b.conn.Exec(b.Context(), sql); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

// sendKeys sends the messages 1 to n, each with its number modulo keys as its key.
func (b bench) sendKeys(n, keys int) {
	b.Helper()
	if _, err := b.conn.Exec(b.Context(),
		"select weir.send('jobs', to_jsonb(i), 'k' || i % $2) from generate_series(1, $1) i", n, keys); err != nil {
		b.Fatal(err)
	}
}

func (b bench) send(n int) {
	b.Helper()
	if _, err := b.conn.Exec(b.Context(),
		"select weir.send('jobs', to_jsonb(i), 'k' || i) from generate_series(1, $1) i", n); err != nil {
		b.Fatal(err)
	}
}

// receive returns what a connection is given in one call.
func receive(t *testing.T, c surface.Conn, group string, n int) []surface.Message {
	t.Helper()
	got, err := surface.Receive(t.Context(), c, queue, group, n, "30 seconds")
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return got
}

// get receives and says how many it wants to be given.
func (b bench) get(want, n int) []surface.Message {
	b.Helper()
	got := receive(b.T, b.conn, "limited", n)
	if len(got) != want {
		b.Fatalf("received %d, want %d: %v", len(got), want, got)
	}
	return got
}

// drain receives and acknowledges until nothing comes, and returns how many messages came.
func (b bench) drain(c surface.Conn, n int) int {
	b.Helper()
	count := 0
	for {
		got := receive(b.T, c, "limited", n)
		if len(got) == 0 {
			return count
		}
		count += len(got)
		for _, m := range got {
			if _, err := surface.Ack(b.Context(), c, queue, m.ClaimID, []int64{m.ID}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func (b bench) begin() pgx.Tx {
	b.Helper()
	tx, err := b.db.Conn(b).Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { tx.Rollback(context.Background()) }) //nolint:errcheck // it may be over
	return tx
}

// before makes a call of a connection begin before, and read some tables after, something is done.
func (b bench) before(c *pgx.Conn, tables, do string, call func() error) {
	b.Helper()
	tx := b.begin()
	if _, err := tx.Exec(b.Context(), "lock table "+tables+" in access exclusive mode"); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	pgtest.WaitForLock(b, b.db, c.PgConn().PID())
	if _, err := tx.Exec(b.Context(), do); err != nil {
		b.Fatalf("%s: %v", do, err)
	}
	if err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

func heldBy(b bench) string {
	b.Helper()
	return pgtest.QueryVal[string](b, b.db,
		"select coalesce(held_by, '') from weir.stats('jobs') where group_name = 'limited'")
}

package test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// requests notes what a worker asks of the engine to get messages, in order: "receive 100", for so many, and "mark".
type requests struct {
	mu   sync.Mutex
	list []string
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *requests) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case strings.Contains(q.SQL, "weir.receive_records"):
		r.list = append(r.list, fmt.Sprint("receive ", q.Args[2]))
	case strings.Contains(q.SQL, "select weir.mark_waiting"):
		r.list = append(r.list, "mark")
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*requests) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// after returns which calls came next to those that are like one.
func (r *requests) after(call string) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := map[string]int{}
	for i := range len(r.list) - 1 {
		if r.list[i] == call {
			next[r.list[i+1]]++
		}
	}
	return next
}

func TestAWorkerThatIsToldOfAMessageReceivesThatOneAndMarksTheQueueAgain(t *testing.T) {
	t.Parallel()
	db, client := newClient(t)
	cfg := get(pgxpool.ParseConfig(db.DSN))(t)
	seen := &requests{}
	cfg.ConnConfig.Tracer = seen
	pool := get(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	own := weir.New(pool)
	t.Cleanup(own.Close)
	var handled atomic.Int64
	start(t, weir.NewWorker(own, "q", func(context.Context, *weir.Message[int]) error {
		handled.Add(1)
		return nil
	}, weir.WorkerOptions{Concurrency: 4, Prefetch: 100}))
	sent := int64(0)
	pgtest.WaitFor(t, "the worker to be told of a message", func() bool { // else a look before it had found that
		pgtest.WaitForRow(t, db, "select last_value = 1 from weir_internal.q1_waiting")
		get(client.Send(t.Context(), "q", 1))(t)
		sent++
		pgtest.WaitFor(t, "the message to be handled", func() bool { return handled.Load() == sent })
		return len(seen.after("receive 1")) > 0
	})
	if next := seen.after("receive 1"); len(next) != 1 || next["mark"] == 0 {
		t.Errorf("after a receive of one message came %v", next)
	}
}

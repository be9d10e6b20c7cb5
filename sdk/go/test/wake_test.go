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

// marked tells whether the queue q is: the next send notifies then.
const marked = `select pg_sequence_last_value(waiting) = no from weir_internal.queues where name = 'q'`

// requests notes what a worker asks of the engine to get messages, in order: "receive 100", for so many, and "mark". A
// receive that got nothing is "receive 100 in vain".
type requests struct {
	mu   sync.Mutex
	list []string
}

// requestKey is where the context of a receive has its place in the list.
type requestKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (r *requests) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case strings.HasPrefix(q.SQL, "select claim_id, n, first_id"):
		ctx = context.WithValue(ctx, requestKey{}, len(r.list))
		r.list = append(r.list, fmt.Sprint("receive ", q.Args[len(q.Args)-2]))
	case strings.Contains(q.SQL, "select weir.mark_waiting"):
		r.list = append(r.list, "mark")
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *requests) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	at, ok := ctx.Value(requestKey{}).(int)
	if !ok || q.CommandTag.RowsAffected() > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list[at] += " in vain"
}

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

// count is how many calls are like one.
func (r *requests) count(call string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.list {
		if c == call {
			n++
		}
	}
	return n
}

// looks is the largest number of receives between one mark and the next.
func (r *requests) looks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	most, since := 0, -1 // -1: no mark yet
	for _, call := range r.list {
		switch {
		case call == "mark":
			most, since = max(most, since), 0
		case since >= 0:
			since++
		}
	}
	return most
}

// seenWorker starts a worker that handles messages of queue q. It returns what the worker asks for, how many messages
// it handled, and what stops it.
func seenWorker(t *testing.T, db *pgtest.DB, o weir.WorkerOptions) (*requests, *atomic.Int64, func()) {
	t.Helper()
	cfg := get(pgxpool.ParseConfig(db.DSN))(t)
	seen := &requests{}
	cfg.ConnConfig.Tracer = seen
	pool := get(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	client := weir.New(pool)
	t.Cleanup(client.Close)
	var handled atomic.Int64
	stop := start(t, weir.NewWorker(client, "q", func(context.Context, *weir.RawMessage) error {
		handled.Add(1)
		return nil
	}, o))
	return seen, &handled, stop
}

func TestAWorkerThatIsToldOfAMessageReceivesThatOneAndMarksTheQueueAgain(t *testing.T) {
	t.Parallel()
	db, client := newClient(t)
	seen, handled, _ := seenWorker(t, db, weir.WorkerOptions{Concurrency: 4, Prefetch: 100})
	sent := int64(0)
	pgtest.WaitFor(t, "the worker to be told of a message", func() bool { // else a look before it had found that
		pgtest.WaitForRow(t, db, marked)
		get(client.Send(t.Context(), "q", 1))(t)
		sent++
		pgtest.WaitFor(t, "the message to be handled", func() bool { return handled.Load() == sent })
		return len(seen.after("receive 1")) > 0
	})
	if next := seen.after("receive 1"); len(next) != 1 || next["mark"] == 0 {
		t.Errorf("after a receive of one message came %v", next)
	}
}

// Who wrote before the mark was set may not have seen it: what he sends is there with his commit, and nobody is told.
func TestAWorkerLooksAgainAndAgainWhileATransactionIsWriting(t *testing.T) {
	t.Parallel()
	db, client := newClient(t)
	writer := db.Conn(t)
	for _, sql := range []string{"begin", "select pg_current_xact_id()"} {
		get(writer.Exec(t.Context(), sql))(t)
	}
	seen, handled, _ := seenWorker(t, db, weir.WorkerOptions{Concurrency: 4, Prefetch: 100})
	sent := int64(0)
	pgtest.WaitFor(t, "a look after each step from 2 to 128 ms", func() bool {
		get(client.Send(t.Context(), "q", 1))(t) // whose handling begins the steps anew
		sent++
		pgtest.WaitFor(t, "the message to be handled", func() bool { return handled.Load() == sent })
		marks := seen.count("mark")
		pgtest.WaitFor(t, "the mark at the end of the steps", func() bool { return seen.count("mark") >= marks+2 })
		return seen.looks() >= 7
	})
}

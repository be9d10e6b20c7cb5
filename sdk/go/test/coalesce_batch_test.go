package test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	weir "github.com/weirmq/weir/sdk/go"
)

// sendBatch returns a call that sends as many jobs in one batch, the first as job n, and notes the answers.
func (a *answers) sendBatch(c *weir.Client, n, size int) func(ctx context.Context) {
	return func(ctx context.Context) {
		batch := make([]weir.Outgoing, size)
		for i := range batch {
			batch[i].Payload = job{n + i}
		}
		ids, err := c.SendBatch(ctx, "q", batch)
		for i := range batch {
			if err != nil {
				ids = make([]int64, size)
			}
			a.add(n+i, ids[i], err)
		}
	}
}

func TestBatchesThatComeDuringACallShareTheNextWithSinglesButForLargeOnes(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendBatch(c, 0, 10))
	for i := range 5 {
		crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendBatch(c, 100*(i+1), 100)(ctx) })
		crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendOne(c, 10+i)(ctx) })
	}
	// Beside the 505 before it too many.
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendBatch(c, 1000, 600)(ctx) })
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendBatch(c, 2000, 1000)(ctx) })
	crowd.awaitStatements(2, "send_batch") // the first, and that of 1,000, which waits for none
	crowd.release()
	crowd.ended.Wait()
	if len(got.ids) != 10+505+600+1000 {
		t.Errorf("%d messages were sent; failed: %v", len(got.ids), got.errs)
	}
	for _, batch := range [][2]int{{0, 10}, {100, 100}, {500, 100}, {1000, 600}, {2000, 1000}} {
		for n := batch[0] + 1; n < batch[0]+batch[1]; n++ {
			if got.ids[n] <= got.ids[n-1] {
				t.Errorf("job %d has the id %d, and the one before it in its batch %d", n, got.ids[n], got.ids[n-1])
			}
		}
	}
	if n := writers(t, db); n != 4 {
		t.Errorf("took %d transactions, want that of the first, that of 505, of 600 and of 1,000", n)
	}
	got.match(t, stored(t, db))
}

func TestOneBadBatchAmongManyFailsAloneAndWhole(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 0))
	crowd.call(t.Context(), 8, func(ctx context.Context, i int) { got.sendBatch(c, 10*(i+1), 10)(ctx) })
	bad := make(chan error, 1)
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) {
		_, err := c.SendBatch(ctx, "q", []weir.Outgoing{
			{Payload: job{101}}, {Payload: job{102}, Key: strings.Repeat("k", 1025)}, {Payload: job{103}},
		})
		bad <- err
	})
	crowd.release()
	crowd.ended.Wait()
	if err := <-bad; weir.Code(err) != weir.ErrInvalidArgument.Code {
		t.Errorf("the bad batch got %v", err)
	}
	if len(got.ids) != 81 {
		t.Errorf("failed: %v", got.errs)
	}
	got.match(t, stored(t, db))
}

func TestABatchWhoseCallerLeftBeforeTheCallBeganIsNotSent(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	crowd, got := newCrowd(t, db), newAnswers()
	crowd.first(t.Context(), got.sendOne(c, 0))
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error)
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendBatch(c, 10, 5)(ctx) })
	crowd.call(leaving, 1, func(ctx context.Context, _ int) {
		_, err := c.SendBatch(ctx, "q", []weir.Outgoing{{Payload: job{100}}, {Payload: job{101}}})
		left <- err
	})
	crowd.call(t.Context(), 1, func(ctx context.Context, _ int) { got.sendBatch(c, 20, 5)(ctx) })
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	crowd.release()
	crowd.ended.Wait()
	if len(got.ids) != 11 {
		t.Errorf("the others got %v and %v", got.ids, got.errs)
	}
	got.match(t, stored(t, db))
}

func TestAPoolThatPreparesItsConnectionsForEachCallSharesNone(t *testing.T) {
	t.Parallel()
	type tenant struct{}
	for name, prepare := range map[string]func(cfg *pgxpool.Config, set func(context.Context, *pgx.Conn) bool){
		"PrepareConn": func(cfg *pgxpool.Config, set func(context.Context, *pgx.Conn) bool) {
			cfg.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) { return set(ctx, conn), nil }
		},
		"BeforeAcquire": func(cfg *pgxpool.Config, set func(context.Context, *pgx.Conn) bool) {
			cfg.BeforeAcquire = set //nolint:staticcheck // it is deprecated, and works
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _ := newClient(t)
			cfg := get(pgxpool.ParseConfig(db.DSN))(t)
			cfg.MaxConns = 20
			prepare(cfg, func(ctx context.Context, conn *pgx.Conn) bool {
				_, err := conn.Exec(ctx, "select set_config('test.tenant', $1, false)", ctx.Value(tenant{}))
				return err == nil
			})
			pool := get(pgxpool.NewWithConfig(t.Context(), cfg))(t)
			t.Cleanup(pool.Close)
			c := weir.New(pool)
			t.Cleanup(c.Close)
			crowd := newCrowd(t, db)
			crowd.call(context.WithValue(t.Context(), tenant{}, "a"), 5, newAnswers().send(c, 0))
			crowd.call(context.WithValue(t.Context(), tenant{}, "b"), 5, newAnswers().send(c, 10))
			crowd.awaitStatements(10, "weir.send")
			crowd.release()
			crowd.ended.Wait()
			if n := writers(t, db); n != 10 {
				t.Errorf("10 sends took %d transactions", n)
			}
		})
	}
}

package upgrade_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// retryable are the errors that a call may meet at the moment in which an upgrade commits: the transaction is rolled
// back, and the next one finds the new functions.
func retryable() []string {
	return []string{
		"40P01", // deadlock detected
		"42883", // the function that a running call wanted next has other arguments now
		"0A000", // cached plan must not change result type
	}
}

// traffic sends and pops until it is stopped, with the calls of an old release.
type traffic struct {
	*testing.T

	pool    *pgxpool.Pool
	workers sync.WaitGroup
	stop    context.CancelFunc

	mu       sync.Mutex
	sent     []int64
	received []int64
	refused  map[string]int
}

// startTraffic starts two senders and two consumers, and returns when both kinds have done something.
func startTraffic(t *testing.T, db *pgtest.DB) *traffic {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	l := &traffic{T: t, pool: db.Pool(t), stop: stop, refused: map[string]int{}}
	for range 2 {
		l.loop(ctx, &l.sent, "select weir.send('orders', '1', 'key ' || floor(random() * 9))")
		l.loop(ctx, &l.received, "select id from weir.pop('orders', 'default', 10)")
	}
	t.Cleanup(stop)
	l.await("sends and receives", 20)
	return l
}

// loop runs a query again and again and collects the ids that it returns.
func (l *traffic) loop(ctx context.Context, ids *[]int64, query string) {
	l.workers.Go(func() {
		for ctx.Err() == nil {
			rows, err := l.pool.Query(l.Context(), query)
			var got []int64
			if err == nil {
				got, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			}
			l.mu.Lock()
			if err == nil {
				*ids = append(*ids, got...)
			} else {
				l.refused[surface.SQLState(err)]++
			}
			l.mu.Unlock()
			if err != nil && !slices.Contains(retryable(), surface.SQLState(err)) {
				l.Errorf("%s: %v", query, err)
				return
			}
		}
	})
}

// await returns when so many more were sent and received.
func (l *traffic) await(what string, more int) {
	l.Helper()
	l.mu.Lock()
	sent, received := len(l.sent)+more, len(l.received)+more
	l.mu.Unlock()
	pgtest.WaitFor(l, what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.Failed() || len(l.sent) >= sent && len(l.received) >= received
	})
}

// end stops the workers, receives what is left and compares.
func (l *traffic) end() {
	l.Helper()
	l.stop()
	l.workers.Wait()
	for {
		got, err := surface.Pop(l.Context(), l.pool, "orders", "default", 1000)
		if err != nil {
			l.Fatal(err)
		}
		if len(got) == 0 {
			break
		}
		l.received = append(l.received, surface.IDs(got)...)
	}
	slices.Sort(l.sent)
	slices.Sort(l.received)
	if !slices.Equal(l.sent, l.received) {
		l.Errorf("%d messages were sent and %d received, %d of them different", len(l.sent), len(l.received),
			len(slices.Compact(slices.Clone(l.received))))
	}
	l.Logf("%d messages; refused: %v", len(l.sent), l.refused)
}

func TestAnUpgradeUnderLoadLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "orders", "lanes => 4")
		db.Exec(t, "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)")
		load := startTraffic(t, db)
		engine := later(t)
		var installs sync.WaitGroup
		for range 3 { // the others find the work done, and install the same again
			conn := db.Conn(t)
			installs.Go(func() {
				if err := upgradeLater(t.Context(), conn, engine); err != nil {
					t.Error(err)
				}
			})
		}
		installs.Wait()
		load.await("sends and receives after the upgrade", 20)
		surface.Settle(t, db.Pool(t))
		load.end()
		if n := pgtest.QueryVal[int](t, db, "select count(*) from weir_internal.queues where colour = 'none'"); n != 1 {
			t.Errorf("the step changed %d queues", n)
		}
	})
}

func TestAnUpgradeThatIsKilledChangesNothing(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, db *pgtest.DB) {
		surface.CreateQueue(t, db.Pool(t), "orders", "lanes => 4")
		before := surface.Catalogue(t, db) + surface.Bodies(t, db)
		load := startTraffic(t, db)
		// An uncommitted grant has a row of pg_proc that the upgrade wants to change: it waits there, half done.
		granting := db.Conn(t)
		for _, sql := range []string{"begin", "grant execute on function weir.version() to " + db.Role(t)} {
			if _, err := granting.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		upgrading := db.Conn(t)
		failed := make(chan error, 1)
		engine := later(t)
		go func() { failed <- upgradeLater(context.WithoutCancel(t.Context()), upgrading, engine) }()
		pgtest.WaitForRow(t, db, "select exists (select from pg_locks where pid = $1 and not granted and "+
			"locktype = 'transactionid')", int64(upgrading.PgConn().PID()))
		if _, err := db.Super(t).Exec(t.Context(), "select pg_terminate_backend($1)", upgrading.PgConn().PID()); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; err == nil {
			t.Error("the upgrade that was killed says nothing")
		}
		if _, err := granting.Exec(t.Context(), "rollback"); err != nil {
			t.Fatal(err)
		}
		load.await("sends and receives after the kill", 20)
		load.end()
		if after := surface.Catalogue(t, db) + surface.Bodies(t, db); after != before {
			t.Errorf("the upgrade that was killed changed something:\n%s", surface.Difference(before, after))
		}
		upgrade(t, db)
	})
}

package admin_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestPurgeDropsWhatIsNotFinished(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'other')", queue)
		hour := surface.Text("1 hour")
		id := func(id int64, err error) int64 {
			if err != nil {
				b.Fatal(err)
			}
			return id
		}
		delayed := id(surface.Send(b.Context(), b.db.Pool(b), queue, "1", nil, nil, hour))
		all := []int64{delayed}
		for range 5 {
			all = append(all, b.send(10)...)
		}
		var claimed []surface.Message
		for len(claimed) < 7 { // the last record in part
			claimed = append(claimed, b.receive("default", 7-len(claimed))...)
		}
		settle := func(verb string, m surface.Message) {
			b.wantCount(1, "select weir."+verb+"($1, $2, array[$3::bigint])", queue, m.ClaimID, m.ID)
		}
		settle("ack", claimed[0])
		settle("reject", claimed[1])
		settle("nack", claimed[2])
		b.wantCount(49, "select weir.purge($1, 'default')", queue) // 51 sent, one is done, one is dead
		b.wantCount(0, "select weir.purge($1, 'default')", queue)
		b.fails("WR010", "select weir.ack($1, $2, $3::bigint)", queue, claimed[3].ClaimID, claimed[3].ID)
		fresh := b.send(2)
		again := id(surface.Send(b.Context(), b.db.Pool(b), queue, "1", nil, nil, surface.Text("30 minutes")))
		b.wantCount(1, "select count(*) from weir.dead_letters($1)", queue)
		b.wantCount(1, "select weir.redrive($1, 'default')", queue)
		b.clock.Advance(b, 2*time.Hour)
		b.wantIDs("default", append(fresh, again, claimed[1].ID)...)
		b.wantIDs("other", append(append(fresh, again), all...)...)
		b.wantCount(4+3+len(all), "select weir.purge($1)", queue) // what each of the two has claimed
		b.clock.Advance(b, time.Hour)
		b.wantIDs("default")
		b.wantIDs("other")
	})
}

func TestPurgeLeavesWhatIsNotCommitted(t *testing.T) {
	each(t, func(b bench) {
		b.send(5)
		conn := b.db.Conn(b)
		if _, err := conn.Exec(b.Context(), `begin; select weir.send('jobs', '1');
			select weir.send('jobs', '2', delay => '1 minute'), weir.send('jobs', '3', delay => '1 ms')`); err != nil {
			b.Fatal(err)
		}
		b.clock.Advance(b, time.Second)
		b.wantCount(5, "select weir.purge($1)", queue)
		if _, err := conn.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		b.wantIDs("default", 2000, 4000)
		b.clock.Advance(b, 30*time.Second)
		b.wantIDs("default")
		b.clock.Advance(b, 29*time.Second)
		b.wantIDs("default", 3000)
	})
}

func TestPurgeWaitsForReceivers(t *testing.T) {
	each(t, func(b bench) {
		b.send(10)
		conn, purger := b.db.Conn(b), b.db.Conn(b)
		if _, err := conn.Exec(b.Context(), "begin; select weir.receive('jobs', max => 4)"); err != nil {
			b.Fatal(err)
		}
		var n int
		done := make(chan error)
		go func() { done <- purger.QueryRow(b.Context(), "select weir.purge('jobs')").Scan(&n) }()
		pgtest.WaitForLock(b, b.db, purger.PgConn().PID())
		if _, err := conn.Exec(b.Context(), "commit"); err != nil {
			b.Fatal(err)
		}
		if err := <-done; err != nil || n != 10 {
			b.Errorf("purged %d, %v; want 10", n, err)
		}
		b.wantIDs("default")
	})
}

func TestPurgeEmptiesTheKeyQueuesOfAnOrderedGroup(t *testing.T) {
	each(t, func(b bench) {
		b.exec("select weir.create_group($1, 'ordered', ordered => true)", queue)
		for range 3 {
			b.exec("select weir.send($1, '1', 'a'), weir.send($1, '1', 'b')", queue)
		}
		got := b.receive("ordered", 2)
		b.wantCount(1, "select weir.nack($1, $2, array[$3::bigint])", queue, got[0].ClaimID, got[0].ID)
		b.receive("ordered", 1)
		b.wantCount(6, "select weir.purge($1, 'ordered')", queue)
		b.wantCount(0, "select weir.purge($1, 'ordered')", queue)
		b.clock.Advance(b, time.Hour)
		b.wantIDs("ordered")
		b.exec("select weir.send($1, '1', 'a')", queue)
		b.wantIDs("ordered", 7000)
		b.wantIDs("default", 1000, 2000, 3000, 4000, 5000, 6000, 7000)
	})
}

// TestPurgeCountsWhatItDrops has producers at work all the while: what was purged and what is left is what was sent.
func TestPurgeCountsWhatItDrops(t *testing.T) {
	each(t, func(b bench) {
		ctx, stop := context.WithTimeout(b.Context(), 3*time.Second)
		defer stop()
		var sent atomic.Int64
		var producers sync.WaitGroup
		for range 2 {
			producers.Go(func() {
				for ctx.Err() == nil {
					n, end := 1+rand.IntN(20), "commit"
					if rand.IntN(5) == 0 {
						end = "rollback"
					}
					if !produce(b, n, end) {
						return
					}
					if end == "commit" {
						sent.Add(int64(n))
					}
				}
			})
		}
		purged := int64(0)
		for ctx.Err() == nil {
			if rand.IntN(3) == 0 {
				b.receive("default", 10)
			}
			purged += pgtest.QueryVal[int64](b, b.db, "select weir.purge('jobs')")
		}
		producers.Wait()
		last := pgtest.QueryVal[int64](b, b.db, "select weir.purge('jobs')")
		if purged+last != sent.Load() {
			b.Errorf("sent %d, purged %d and %d", sent.Load(), purged, last)
		}
		b.Logf("sent %d", sent.Load())
		b.wantIDs("default")
	})
}

// produce sends a batch, a third of them delayed, and ends its transaction.
func produce(b bench, n int, end string) bool {
	tx, err := b.db.Pool(b).Begin(b.Context())
	if err != nil {
		b.Error(err)
		return false
	}
	delay := []string{"0", "10 ms", "1 hour"}[rand.IntN(3)]
	_, err = tx.Exec(b.Context(),
		"select weir.send_batch('jobs', array_fill('1'::jsonb, array[$1::int]), delay => $2::text::interval)", n, delay)
	if err != nil {
		b.Error(err)
	}
	if _, err = tx.Exec(b.Context(), end); err != nil {
		b.Error(err)
	}
	if err = tx.Rollback(context.WithoutCancel(b.Context())); err != nil {
		b.Log(err)
	}
	return true
}

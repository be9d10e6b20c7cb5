package jobs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

const unique = "unique_key => 'a'"

func TestAUniqueJobIsThereOnceUntilItIsFinished(t *testing.T) {
	holds := map[string]func(b bench, id int64){
		"waiting": func(bench, int64) {},
		"delayed": func(bench, int64) {},
		"running": func(b bench, _ int64) { b.take() },
		"its worker was killed": func(b bench, _ int64) {
			b.take()
			b.clock.Advance(b, 2*time.Minute)
		},
		"to be tried again": func(b bench, _ int64) {
			b.db.Exec(b, "select weir.nack('jobs', $1, delay => '1 hour')", b.take().ClaimID)
		},
		"due again": func(b bench, _ int64) {
			b.db.Exec(b, "select weir.nack('jobs', $1, delay => '0')", b.take().ClaimID)
		},
		"snoozed": func(b bench, _ int64) {
			b.db.Exec(b, "select weir.snooze('jobs', $1, delay => '1 hour')", b.take().ClaimID)
		},
		"redriven": func(b bench, _ int64) {
			b.reject(b.take())
			b.db.Exec(b, "select weir.redrive('jobs', 'default')")
		},
		"running for a week, while the rings turn": func(b bench, id int64) {
			m := b.take()
			b.db.Exec(b, "select weir.extend('jobs', $1, '7 days')", m.ClaimID)
			for range 20 {
				b.clock.Advance(b, 10*time.Minute)
				b.enqueue("is_unique => true, unique_for => '1 minute'") // fills the ring
				b.settle()
			}
			if got := b.enqueue(unique); got != id {
				b.Errorf("job %d beside %d", got, id)
			}
			for _, w := range b.receive(1000) {
				b.db.Exec(b, "select weir.ack_all('jobs', $1)", w.ClaimID)
			}
		},
		"another group has it": func(b bench, _ int64) {
			b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.take().ClaimID)
		},
	}
	each(t, "lanes => 2", func(b bench) {
		for name, hold := range holds {
			b.Run(name, func(t *testing.T) {
				c := bench{t, b.db, b.options, b.clock}
				options := unique
				switch name {
				case "delayed":
					options += ", delay => '1 hour'"
				case "another group has it":
					c.db.Exec(c, "select weir.create_group('jobs', 'other', start => 'end')")
				}
				id := c.enqueue(options)
				hold(c, id)
				if got := c.enqueue(unique); got != id {
					c.Errorf("job %d was enqueued beside %d", got, id)
				}
				c.db.Exec(c, "delete from weir_internal.groups")
				if got := c.enqueue(unique); got == id {
					c.Errorf("job %d is said to be there when no group has it", got)
				}
				c.anew()
			})
		}
	})
}

func TestAFinishedJobGivesItsKeyBack(t *testing.T) {
	ends := map[string]func(b bench, id int64){
		"ack":    func(b bench, _ int64) { b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.take().ClaimID) },
		"finish": func(b bench, id int64) { b.db.Exec(b, "select weir.finish('jobs', $1, $2)", b.take().ClaimID, id) },
		"pop":    func(b bench, _ int64) { b.db.Exec(b, "select weir.pop('jobs')") },
		"dead":   func(b bench, _ int64) { b.reject(b.take()) },
		"cancel": func(b bench, id int64) { b.cancel(id) },
		"purge":  func(b bench, _ int64) { b.db.Exec(b, "select weir.purge('jobs', 'default')") },
		"seek":   func(b bench, _ int64) { b.db.Exec(b, "select weir.seek('jobs', 'default', 'end')") },
		"ttl": func(b bench, _ int64) {
			b.db.Exec(b, "update weir_internal.groups set ttl = '1 hour'")
			b.clock.Advance(b, 2*time.Hour)
		},
		"drop of the group": func(b bench, _ int64) {
			b.db.Exec(b, `delete from weir_internal.groups g using weir_internal.queues q
				where q.no = g.queue_no and q.name = 'jobs'`)
			b.db.Exec(b, "select weir.create_group('jobs', 'default', start => 'end')")
		},
		"cancel while it runs": func(b bench, id int64) {
			m := b.take()
			b.cancel(id)
			if got := b.enqueue(unique); got != id {
				b.Errorf("job %d beside %d, which still runs", got, id)
			}
			b.db.Exec(b, "select weir.nack('jobs', $1)", m.ClaimID)
		},
	}
	each(t, "lanes => 2", func(b bench) {
		for name, end := range ends {
			id := b.enqueue(unique)
			end(b, id)
			next := b.enqueue(unique)
			if next == id {
				b.Errorf("%s: the key is still taken", name)
			}
			if again := b.enqueue(unique); again != next {
				b.Errorf("%s: job %d beside %d", name, again, next)
			}
			b.anew()
		}
	})
}

func TestAPeriodOfUniquenessEndsByItself(t *testing.T) {
	each(t, "dedup_window => '1 minute'", func(b bench) {
		id := b.enqueue(unique + ", unique_for => '1 hour'")
		b.db.Exec(b, "select weir.ack_all('jobs', $1)", b.take().ClaimID)
		for range 11 {
			b.clock.Advance(b, 5*time.Minute)
			b.settle()
			if got := b.enqueue(unique + ", unique_for => '1 hour'"); got != id {
				b.Fatalf("job %d within the period of %d", got, id)
			}
		}
		b.clock.Advance(b, 6*time.Minute)
		if got := b.enqueue(unique + ", unique_for => '1 hour'"); got == id {
			b.Error("the key is still taken after the period")
		}
	})
}

func TestKindAndArgumentsAreAKey(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue(`'{"a": 1, "b": 2}', is_unique => true`)
		if got := b.enqueue(`'{"b": 2, "a": 1}', is_unique => true`); got != id {
			b.Errorf("job %d beside %d", got, id)
		}
		if got := b.enqueue(`'{"b": 2}', is_unique => true`); got == id {
			b.Error("other arguments are the same job")
		}
		if got := pgtest.QueryVal[int64](b, b.db,
			`select weir.enqueue('jobs', 'other', '{"a": 1, "b": 2}', is_unique => true)`); got == id {
			b.Error("another kind is the same job")
		}
		if got := pgtest.QueryVal[int64](b, b.db, "select weir.send('jobs', '1', dedup_key => 'a')"); got ==
			b.enqueue("unique_key => 'a'") {
			b.Error("a dedup key is taken for a unique key")
		}
	})
}

func TestTheSecondOfTwoEnqueuersWaitsForTheFirst(t *testing.T) {
	each(t, "", func(b bench) {
		for _, taken := range []bool{false, true} { // whether the key was taken before, by a job that is finished
			for _, end := range []string{"commit", "rollback"} {
				key := fmt.Sprintf("unique_key => '%v %s'", taken, end)
				if taken {
					b.enqueue(key)
					b.db.Exec(b, "select count(*) from weir.pop('jobs', max => 100)")
				}
				first := b.db.Conn(b)
				b.exec(first, "begin")
				id := b.enqueueOn(first, key)
				if again := b.enqueueOn(first, key); again != id {
					b.Errorf("the same transaction enqueues %d beside %d", again, id)
				}
				pid, second := b.enqueueing(key)
				pgtest.WaitForLock(b, b.db, pid)
				b.exec(first, end)
				if got := second(); (got == id) != (end == "commit") {
					b.Errorf("taken=%v: after %s of job %d the second is told %d", taken, end, id, got)
				}
			}
		}
	})
}

func TestAnAckThatIsNotCommittedKeepsTheKey(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue(unique)
		m, acker := b.take(), b.db.Conn(b)
		b.exec(acker, "begin")
		b.exec(acker, "select weir.ack_all('jobs', $1)", m.ClaimID)
		if got := b.enqueue(unique); got != id {
			b.Errorf("job %d beside %d, whose ack may roll back", got, id)
		}
		b.exec(acker, "rollback")
		if got := b.enqueue(unique); got != id {
			b.Errorf("job %d beside %d, whose ack was rolled back", got, id)
		}
		b.exec(acker, "begin")
		b.exec(acker, "select weir.ack_all('jobs', $1)", m.ClaimID)
		next := b.enqueueOn(acker, unique) // it hands on to itself
		if next == id {
			b.Error("the key is taken by a job that this transaction has finished")
		}
		b.exec(acker, "commit")
		if got := b.enqueue(unique); got != next {
			b.Errorf("job %d beside %d", got, next)
		}
	})
}

func TestUniqueJobsNeedToSeeWhatOthersCommit(t *testing.T) {
	each(t, "", func(b bench) {
		conn := b.db.Conn(b)
		b.exec(conn, "begin isolation level repeatable read")
		_, err := tryEnqueue(b.Context(), conn, unique)
		surface.WantState(b, err, "WR012")
		b.exec(conn, "rollback")
		b.exec(conn, "begin isolation level repeatable read")
		b.enqueueOn(conn, "tracked => true")
		b.exec(conn, "commit")
	})
}

// TestBatchesOfUniqueJobsRaceWithoutADeadlock lets many enqueue overlapping batches, in any order, while others work
// and maintain turns the rings: no two jobs of a key are ever there at once.
func TestBatchesOfUniqueJobsRaceWithoutADeadlock(t *testing.T) {
	each(t, "dedup_window => '1 second', lanes => 4", func(b bench) {
		pool := b.db.Pool(b)
		b.db.Exec(b, `create table ran
			(key text, id bigint, enqueued_at timestamptz, acked_at timestamptz default clock_timestamp())`)
		var enqueuers, workers sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			enqueuers.Go(func() {
				for range 25 {
					keys := rand.Perm(40)[:20]
					err := errors.New("not tried")
					for err != nil && (err.Error() == "not tried" || surface.SQLState(err) == "40P01") { // the ring turned between
						_, err = pool.Exec(b.Context(), `select weir.enqueue_batch('jobs', array(
							select jsonb_build_object('kind', 'k', 'unique_key', k, 'args', k) from unnest($1::int[]) k))`, keys)
					}
					if err != nil {
						b.Errorf("enqueue: %v", err)
					}
				}
			})
		}
		for range 3 {
			workers.Go(func() {
				for done := false; ; {
					got, err := surface.Receive(b.Context(), pool, queue, "default", 7, "1 minute")
					if err != nil {
						b.Errorf("receive: %v", err)
						return
					}
					if len(got) == 0 && done {
						return
					}
					for _, m := range got {
						_, err := pool.Exec(b.Context(), `with r as (
							insert into ran (key, id, enqueued_at) values ($3, $2, $4)) select weir.ack('jobs', $1, array[$2::bigint])`,
							m.ClaimID, m.ID, m.Payload, m.EnqueuedAt)
						if err != nil {
							b.Errorf("ack: %v", err)
						}
					}
					_, _ = pool.Exec(b.Context(), "select weir_log.rotate_dedup(1), weir_log.rotate_jobs(1)")
					select {
					case <-stop:
						done = true
					default:
					}
				}
			})
		}
		enqueuers.Wait()
		close(stop)
		workers.Wait()
		beside := pgtest.QueryAll[string](b, b.db, `select a.key || ': ' || a.id || ', ' || b.id
			from ran a join ran b on a.key = b.key and a.id < b.id
				and b.enqueued_at < a.acked_at and a.enqueued_at < b.acked_at`)
		if len(beside) > 0 {
			b.Errorf("jobs of one key were there at once: %v", beside)
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(distinct key) from ran"); n != 40 {
			b.Errorf("%d keys ran, want 40", n)
		}
	})
}

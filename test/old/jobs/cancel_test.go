package jobs_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func (b bench) cancel(id int64) string {
	b.Helper()
	return pgtest.QueryVal[string](b, b.db, "select weir.cancel('jobs', $1, 'not needed')", id)
}

func TestACancelledJobThatWaitsNeverRuns(t *testing.T) {
	t.Parallel()
	for _, options := range []string{"lanes => 1", "lanes => 4, priorities => 2"} {
		t.Run(options, func(t *testing.T) {
			each(t, options, func(b bench) {
				b.db.Exec(b, "select weir.create_group('jobs', 'ordered', ordered => true)")
				gone := []int64{
					b.enqueue("tracked => true"), b.enqueue("key => 'k'"), b.enqueue("delay => '1 hour', tracked => true"),
				}
				kept := b.enqueue("key => 'k'")
				for _, id := range gone {
					if got := b.cancel(id); got != "cancelled" {
						b.Errorf("cancel(%d) says %s", id, got)
					}
				}
				b.want(gone[0], "cancelled")
				b.want(gone[2], "cancelled")
				b.clock.Advance(b, 2*time.Hour)
				for _, group := range []string{"default", "ordered"} {
					var ids []int64
					for range 4 {
						got, err := surface.Pop(b.Context(), b.db.Pool(b), queue, group, 10)
						if err != nil {
							b.Fatal(err)
						}
						ids = append(ids, surface.IDs(got)...)
					}
					if len(ids) != 1 || ids[0] != kept {
						b.Errorf("group %s received %v, want %d", group, ids, kept)
					}
				}
				surface.Settle(b, b.db.Pool(b))
				if n := pgtest.QueryVal[int](b, b.db, "select count(*) + (select last_value from weir_internal.q1_cancels) "+
					"from weir_internal.cancellations"); n != 0 {
					b.Errorf("%d cancellations are left when nobody holds the jobs", n)
				}
				if got := b.ask(gone[0], "(j.state, j.error)"); got != `(cancelled,"not needed")` {
					b.Errorf("in the end: %s", got)
				}
				for _, id := range append(gone, kept, 9999) {
					if got := b.cancel(id); got != "ended" {
						b.Errorf("cancel(%d) of what has ended says %s", id, got)
					}
				}
			})
		})
	}
}

func TestARunningJobLearnsThatItIsCancelled(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.enqueue("tracked => true")
		m := b.take()
		asked := "select count(*) from weir.cancelled('jobs', array[$1, 16384]) c where c.id = $2"
		if n := pgtest.QueryVal[int](b, b.db, asked, m.ClaimID, id); n != 0 {
			b.Errorf("%d are cancelled before", n)
		}
		if got := b.cancel(id); got != "running" {
			b.Errorf("cancel says %s", got)
		}
		b.want(id, "running")
		if n := pgtest.QueryVal[int](b, b.db, asked, m.ClaimID, id); n != 1 {
			b.Errorf("%d are cancelled", n)
		}
		if pgtest.QueryVal[bool](b, b.db, "select weir.progress('jobs', $1, $2)", m.ClaimID, id) {
			b.Error("progress says to go on")
		}
		b.db.Exec(b, "select weir.nack('jobs', $1, delay => '0')", m.ClaimID)
		b.want(id, "cancelled")
		if got := b.receive(1); len(got) != 0 {
			b.Errorf("it runs again: %v", got)
		}
		b.want(id, "cancelled")
	})
}

// TestCancelAndReceiveAgree holds cancel against a receive that is not committed: the job is with one of them.
func TestCancelAndReceiveAgree(t *testing.T) {
	each(t, "", func(b bench) {
		for _, end := range []string{"commit", "rollback"} {
			id := b.enqueue("tracked => true")
			receiver, canceller := b.db.Conn(b), b.db.Conn(b)
			b.exec(receiver, "begin")
			got, err := surface.Receive(b.Context(), receiver, queue, "default", 1, "1 minute")
			if err != nil || len(got) != 1 {
				b.Fatalf("received %v, %v", got, err)
			}
			answer := make(chan string, 1)
			go func() {
				var state string
				if err := canceller.QueryRow(b.Context(), "select weir.cancel('jobs', $1)", id).Scan(&state); err != nil {
					b.Errorf("cancel: %v", err)
				}
				answer <- state
			}()
			pgtest.WaitForLock(b, b.db, canceller.PgConn().PID())
			b.exec(receiver, end)
			if want := map[string]string{"commit": "running", "rollback": "cancelled"}[end]; <-answer != want {
				b.Errorf("after %s cancel does not say %s", end, want)
			}
			if got := b.receive(1); len(got) != 0 {
				b.Errorf("after %s received %v", end, got)
			}
			b.exec(canceller, "begin")
			other := b.enqueue("")
			b.exec(canceller, "select weir.cancel('jobs', $1)", other)
			if got := b.receive(1); len(got) != 0 {
				b.Errorf("received %v while it is being cancelled", got)
			}
			b.exec(canceller, "rollback")
			if got := b.take(); got.ID != other {
				b.Errorf("received %v, want %d, whose cancel was rolled back", got, other)
			}
		}
	})
}

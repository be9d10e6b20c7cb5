package rotation_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// TestAClaimThatGoesToAnotherIsSeenInOneOfTheirHands looks at unfinished claims, as maintain does before it gives a
// message up, while the last of many expires and is leased again all the time.
func TestAClaimThatGoesToAnotherIsSeenInOneOfTheirHands(t *testing.T) {
	each(t, func(b bench) {
		b.db.Exec(b, "select weir.create_queue('busy')")
		b.db.Exec(b, "update weir_internal.groups set max_attempts = 32767")
		b.db.Exec(b, "select weir.send_batch('busy', array_agg(to_jsonb(i))) from generate_series(1, 501) i")
		b.db.Exec(b, "do $$ begin perform weir.receive('busy', lease => '1 hour') from generate_series(1, 500); end $$")
		b.db.Exec(b, "select weir.receive('busy', lease => '1 millisecond')")

		var again atomic.Int64
		redeliver, stop := context.WithCancel(b.Context())
		var other sync.WaitGroup
		conn := b.db.Conn(b)
		other.Go(func() {
			for redeliver.Err() == nil {
				tag, err := conn.Exec(b.Context(), "select from weir.receive('busy', lease => '1 millisecond')")
				if err != nil {
					b.Error(err)
					return
				}
				again.Add(tag.RowsAffected())
			}
		})
		looks := b.db.Conn(b)
		for range 30 {
			var n int
			err := looks.QueryRow(b.Context(), `select sum(u.n) from weir_internal.groups g
				cross join weir_log.unfinished(g.no, 0, 1, 0, 'infinity', null) u`).Scan(&n)
			if err != nil || n != 501 {
				b.Errorf("%d messages are in somebody's hands, of 501 (%v)", n, err)
				break
			}
		}
		stop()
		other.Wait()
		if again.Load() < 5 {
			b.Errorf("the last message was delivered again only %d times", again.Load())
		}
	})
}

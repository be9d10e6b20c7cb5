package restore_test

import (
	"slices"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// A queue that was moving to another log when the dump was taken has all that was in either, and ends its move.
func TestAQueueThatIsMovingIsAdoptedWithBothLogs(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		for to, above := range map[string]bool{"new": true, "main": false} {
			from := small(t, major, 2)
			from.Exec(t, "select weir.create_log('new')")
			if to == "main" {
				from.Exec(t, "select weir.move_queue('q', 'new')")
				from.Exec(t, "select weir.ack_all('q', claim_id) from weir.claims('q', 'default')")
				from.Exec(t, "select weir.pop('q')")
				surface.Settle(t, from.Pool(t))
				from.Exec(t, "select weir.send('q', '1'), weir.send('q', '2')")
				from.Exec(t, "select weir.receive('q', lease => '1 hour')")
			}
			from.Exec(t, "select weir.move_queue('q', $1)", to)
			from.Exec(t, "select weir.send('q', '3')")
			from.Exec(t, "select weir.send('q', '4', dedup_key => 'k')")
			if !above {
				age(t, from, 10_000)
			}
			db := moved(t, from, above)
			adopt(t, db, 1)
			got := append(numbers(t, db), numbers(t, db)...)
			if !slices.Equal(got, upTo(4)) {
				t.Errorf("received %v", got)
			}
			db.Exec(t, "select weir.send('q', '5', dedup_key => 'k')")
			surface.Settle(t, db.Pool(t))
			if n := pgtest.QueryVal[int](t, db, "select count(moving_from) from weir.list_queues()"); n > 0 {
				t.Error("the move has not ended")
			}
			if got := numbers(t, db); len(got) > 0 {
				t.Errorf("received %v", got)
			}
		}
	})
}

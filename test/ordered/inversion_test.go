package ordered_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/test/surface"
)

// What is parked out of the lane and what becomes due are parked under different locks, so that an ack may see the one
// that stands behind and not yet the one ahead of it.
func TestWhatWasParkedUnseenAheadOfWhatSteppedUpGoesFirst(t *testing.T) {
	each(t, "", func(l lines) {
		l.send("a", 0)
		l.nack(l.receive(1, "1 hour", "a0")[0], "0")
		head := l.receive(1, "1 hour", "a0")[0]
		l.sendLater("a", 9, surface.Text("5 seconds"))
		l.send("a", 1)
		tx := l.begin()
		l.claimInLaneNothing(tx) // parks a1 behind a0
		l.clock.Advance(l, 6*time.Second)
		l.receive(10, "1 hour") // a9 joins behind it
		l.ack(head)             // and is told that it is at the head
		l.commit(tx)
		l.ack(l.receive(10, "1 hour", "a1")[0])
		l.ack(l.receive(10, "1 hour", "a9")[0])
		l.receive(10, "1 hour")
		l.wantParked(0)
	})
}

// claimInLaneNothing claims in the lane of keys alone, where all must wait.
func (l lines) claimInLaneNothing(c surface.Conn) {
	l.Helper()
	var n int
	err := c.QueryRow(l.Context(), `select count(*)
		from weir_internal.queues q join weir_internal.groups g on g.queue_no = q.no and g.name = $2
		cross join lateral unnest(weir_log.claim_lane(q, g, 16, null, 10, '1 hour', weir_internal.clock())) o
		where q.name = $1`, queue, group).Scan(&n)
	if err != nil || n != 0 {
		l.Fatal(n, err)
	}
}

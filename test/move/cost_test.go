package move_test

import (
	"testing"

	"github.com/weirmq/weir/test/surface"
)

// A queue that has moved costs what one costs that was always there.
func TestACallOnAMovedQueueTouchesNoMoreThanOneOnAnother(t *testing.T) {
	each(t, "", func(b bench) {
		surface.CreateQueue(b, b.db.Pool(b), "p", "log => 'new'")
		b.exec("select weir.send('q', '1')")
		b.move()
		b.wantPop("default", "1")
		b.ends()
		conn := b.db.Conn(b)
		cost := map[string][]int{}
		isDearer := func() bool {
			for i, n := range cost["q"] { // a page more is chance, a look at another table is two
				if n > cost["p"][i]+1 {
					return true
				}
			}
			return false
		}
		for round := 0; round < 8 || isDearer() && round < 40; round++ {
			for _, queue := range []string{"p", "q"} {
				send := surface.Buffers(b, conn, "select weir.send($1::text, '1')", queue)
				receive := surface.Buffers(b, conn, "select * from weir.receive($1::text)", queue)
				if _, err := surface.Send(b.Context(), conn, queue, "1", nil, nil, nil); err != nil {
					b.Fatal(err)
				}
				got, err := surface.Receive(b.Context(), conn, queue, "default", 1, "1 hour")
				if err != nil || len(got) != 1 {
					b.Fatalf("received %v, %v", got, err)
				}
				ack := surface.Buffers(b, conn, "select weir.ack($1::text, $2::bigint, $3::bigint)",
					queue, got[0].ClaimID, got[0].ID)
				if cost[queue] == nil {
					cost[queue] = []int{send, receive, ack}
				}
				// the least: now and then a receive looks at claims, or at the cursor again because others commit
				for i, n := range []int{send, receive, ack} {
					cost[queue][i] = min(cost[queue][i], n)
				}
			}
		}
		if isDearer() {
			b.Errorf("send, receive and ack touch %v buffers, those of another queue %v", cost["q"], cost["p"])
		}
	})
}

package admin_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// eachUrgent runs a test on a queue with three priorities.
func eachUrgent(t *testing.T, test func(b bench)) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "priorities => 3, aging => '1 minute'")
		test(bench{t, db, surface.MovableClock(t, db)})
	})
}

// urgent sends one message of a priority, which is its payload too.
func (b bench) urgent(priority int) {
	b.Helper()
	b.exec("select weir.send($1, $2::text::jsonb, priority => $3)", queue, strconv.Itoa(priority), priority)
}

// order receives and acknowledges one after the other and checks the payloads.
func (b bench) order(want ...string) {
	b.Helper()
	for i, w := range want {
		got := b.receive("default", 1)
		if len(got) != 1 || got[0].Payload != w {
			b.Fatalf("delivery %d is %v, want %s", i, got, w)
		}
		if _, err := surface.Ack(b.Context(), b.db.Pool(b), queue, got[0].ClaimID, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestHigherPrioritiesGoFirst(t *testing.T) {
	eachUrgent(t, func(b bench) {
		for range 3 {
			for p := range 3 {
				b.urgent(p)
			}
		}
		b.order("2", "2", "2", "1", "1", "1", "0", "0", "0")
	})
}

func TestAMessageThatWaitedForTheAgingGoesBeforeOneALevelHigher(t *testing.T) {
	eachUrgent(t, func(b bench) {
		b.urgent(0)
		b.clock.Advance(b, 61*time.Second)
		b.urgent(1)
		b.urgent(2)
		b.order("2", "0", "1")
		b.urgent(0)
		b.clock.Advance(b, 121*time.Second)
		b.urgent(2)
		b.order("0", "2")
	})
}

func TestABatchHasOnePriorityAndTheRestOfTheRequestIsFilledFromLowerLevels(t *testing.T) {
	eachUrgent(t, func(b bench) {
		b.exec("select weir.send_batch($1, array['\"low\"', '\"low\"']::jsonb[])", queue)
		b.exec("select weir.send_batch($1, array['\"high\"', '\"high\"']::jsonb[], priority => 2)", queue)
		got := b.receive("default", 3)
		if len(got) != 3 || got[0].Payload != `"high"` || got[1].Payload != `"high"` || got[2].Payload != `"low"` {
			b.Errorf("received %v", got)
		}
	})
}

func TestAPriorityThatTheQueueDoesNotHaveIsRefused(t *testing.T) {
	eachUrgent(t, func(b bench) {
		b.fails("WR006", "select weir.send($1, '1', priority => 3)", queue)
		b.fails("WR006", "select weir.send($1, '1', priority => -1)", queue)
		b.fails("WR006", "select weir.send($1, '1', key => 'a', priority => 1)", queue)
		b.fails("WR006", "select weir.create_queue('other', priorities => 9)")
		b.exec("select weir.send($1, '1', key => 'a', priority => 0)", queue)
	})
}

// An ordered group finds a key's lane again when its messages come back from a retry.
func TestAnOrderedGroupOfAQueueWithPrioritiesKeepsItsKeys(t *testing.T) {
	eachUrgent(t, func(b bench) {
		b.exec("select weir.create_group($1, 'ordered', ordered => true)", queue)
		for n := range 3 {
			b.exec("select weir.send($1, $2::text::jsonb, key => 'a')", queue, strconv.Itoa(n))
		}
		got := b.receive("ordered", 2)
		if _, err := surface.Nack(b.Context(), b.db.Pool(b), queue, got[0].ClaimID, []int64{got[0].ID}, nil); err != nil {
			b.Fatal(err)
		}
		if again := b.receive("ordered", 10); len(again) != 0 {
			b.Errorf("%v overtook its key", again)
		}
		b.clock.Advance(b, time.Minute)
		if again := b.receive("ordered", 10); len(again) != 1 || again[0].ID != got[0].ID {
			b.Errorf("received %v, want the first again", again)
		}
	})
}

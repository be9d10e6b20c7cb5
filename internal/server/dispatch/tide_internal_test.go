package dispatch

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

// at is the place that the tests' consumers receive from.
var at = place{"q", "default"}

// shares are those of n consumers, a message each.
func shares(n int) [][]engine.Message {
	list := make([][]engine.Message, n)
	for i := range list {
		list[i] = make([]engine.Message, 1)
	}
	return list
}

// patient returns tides in which nobody's patience ends.
func patient() *tides {
	ts := newTides()
	ts.patience, ts.yield = time.Hour, time.Hour
	return ts
}

// waits runs a wait and returns when it waits; the channel is closed when it is over.
func waits(t *testing.T, ts *tides, wait func(queue string)) <-chan struct{} {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		wait(at.queue)
	}()
	for !ts.waiting(at.queue) {
		select {
		case <-over:
			t.Fatal("it did not wait")
		default:
			runtime.Gosched()
		}
	}
	return over
}

// waiting reports whether somebody waits for a change.
func (ts *tides) waiting(queue string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.queues[queue] != nil && ts.queues[queue].changed != nil
}

func TestACallGoesAtOnceWhenNobodyIsExpected(t *testing.T) {
	t.Parallel()
	ts := patient()
	for range 2 { // of a queue that is not known, and of one that is
		ts.beforeSend(at.queue)
		ts.beforeAcks(at.queue)
		ts.beforeClaim(at.queue)
		ts.claimed(at, shares(1), true, time.Hour)
		ts.ackCame(at.queue)
		ts.beforeAcks(at.queue)
		ts.ackAnswered(at.queue)
		ts.receiverCame(at.queue)
	}
}

func TestAnAckWaitsForTheOthersThatWereHandedMessagesWithIt(t *testing.T) {
	t.Parallel()
	ts := patient()
	ts.claimed(at, append(shares(3), nil), false, time.Hour)
	ts.ackCame(at.queue)
	over := waits(t, ts, ts.beforeAcks)
	ts.ackCame(at.queue)
	if !ts.waiting(at.queue) {
		t.Error("it went without the third")
	}
	ts.ackCame(at.queue)
	<-over
}

func TestAnAckWaitsForAClaimUnderWay(t *testing.T) {
	t.Parallel()
	ts := patient()
	end := ts.enterClaim(at.queue)
	over := waits(t, ts, ts.beforeAcks)
	end()
	<-over
}

func TestAClaimWaitsForThoseWhoseAcksAreBeingAnswered(t *testing.T) {
	t.Parallel()
	ts := patient()
	ts.claimed(at, nil, false, time.Hour)
	ts.ackCame(at.queue)
	ts.ackCame(at.queue)
	over := waits(t, ts, ts.beforeClaim)
	ts.ackAnswered(at.queue)
	ts.ackAnswered(at.queue)
	for !ts.waiting(at.queue) { // for the receives now
		runtime.Gosched()
	}
	ts.receiverCame(at.queue)
	if !ts.waiting(at.queue) {
		t.Error("it went without the second")
	}
	ts.receiverCame(at.queue)
	<-over
}

func TestASendWaitsWhileBusyConsumersHaveEnoughToDo(t *testing.T) {
	t.Parallel()
	ts := patient()
	ts.claimed(at, shares(2), true, time.Hour)
	ts.sent(at.queue, 1)
	ts.beforeSend(at.queue) // fewer than they claim at a time
	ts.sent(at.queue, 1)
	end := ts.enterClaim(at.queue)
	over := waits(t, ts, ts.beforeSend)
	ts.claimed(at, shares(2), true, time.Hour)
	end()
	<-over
}

func TestASendLetsNoMoreThanAFewCallsGoFirst(t *testing.T) {
	t.Parallel()
	ts := patient()
	ts.claimed(at, shares(1), true, time.Hour)
	ts.sent(at.queue, 100)
	ts.enter(at.queue) // never ends
	over := waits(t, ts, ts.beforeSend)
	for range yieldCalls {
		ts.enter(at.queue)()
	}
	<-over
}

func TestASendWaitsForNoConsumerThatIsBusyElsewhere(t *testing.T) {
	t.Parallel()
	ts := newTides()
	ts.claimed(at, shares(1), true, 0)
	ts.sent(at.queue, 100)
	ts.beforeSend(at.queue)
}

func TestQuietQueuesAreForgotten(t *testing.T) {
	t.Parallel()
	ts := newTides()
	ts.enter(at.queue) // under way
	for i := range tidesMax {
		ts.sent(strconv.Itoa(i), 1)
	}
	for _, tide := range ts.queues {
		tide.used = time.Now().Add(-2 * quiet)
	}
	ts.swept = time.Time{}
	ts.sent("new", 1)
	if len(ts.queues) != 2 || ts.queues[at.queue] == nil {
		t.Errorf("%d queues are remembered, want the new one and that with a call under way", len(ts.queues))
	}
}

package weir

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// errOfTest is what a test cancels a context with.
var errOfTest = errors.New("of the test")

type keyOfTest struct{}

func TestTheContextOfAHandlerEndsWithItsHandlerWhoeverAskedBefore(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		c := &messageContext{Context: context.WithValue(context.Background(), keyOfTest{}, "value")}
		if asked {
			c.Done()
		}
		if err := c.Err(); err != nil {
			t.Errorf("asked %v: the context has ended before the handler: %v", asked, err)
		}
		child, end := context.WithCancel(c)
		c.end()
		if !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), context.Canceled) {
			t.Errorf("asked %v: Err is %v, Cause is %v after the handler", asked, c.Err(), context.Cause(c))
		}
		<-child.Done()
		end()
		<-c.Done()
		if c.Value(keyOfTest{}) != "value" {
			t.Errorf("asked %v: a value of the context above is lost", asked)
		}
	}
}

func TestTheContextOfAHandlerThatNobodyAskedHasEndedAfterIt(t *testing.T) {
	t.Parallel()
	c := &messageContext{Context: context.Background()}
	c.end()
	if !errors.Is(c.Err(), context.Canceled) {
		t.Errorf("Err is %v", c.Err())
	}
	<-c.Done()
}

func TestACancelledHandlersContextTellsWhyToWhatComesFromIt(t *testing.T) {
	t.Parallel()
	above, endAbove := context.WithCancelCause(context.Background())
	defer endAbove(nil)
	c := &messageContext{Context: above}
	child, end := context.WithCancel(c)
	defer end()
	called := make(chan struct{})
	context.AfterFunc(c, func() { close(called) })
	c.cancel(errOfTest)
	<-child.Done()
	<-called
	if !errors.Is(context.Cause(child), errOfTest) || !errors.Is(context.Cause(c), errOfTest) {
		t.Errorf("the causes are %v and %v", context.Cause(child), context.Cause(c))
	}
	if above.Err() != nil {
		t.Error("the context above ended, too")
	}
}

func TestAHandlersContextEndsWithTheOneAbove(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		above, endAbove := context.WithCancelCause(context.Background())
		c := &messageContext{Context: above}
		if asked {
			c.Done()
		}
		endAbove(errOfTest)
		<-c.Done()
		if !errors.Is(c.Err(), context.Canceled) || !errors.Is(context.Cause(c), errOfTest) {
			t.Errorf("asked %v: Err is %v, Cause is %v", asked, c.Err(), context.Cause(c))
		}
	}
}

// taken returns a worker that has taken messages 1, 2, 3 of one claim, and their tasks.
func taken(partWait time.Duration) (*Worker, []*task) {
	w := NewWorker(&Client{}, "q", func(context.Context, *RawMessage) error { return nil })
	w.partWait = partWait
	w.take([]*RawMessage{{ID: 1, ClaimID: 7}, {ID: 2, ClaimID: 7}, {ID: 3, ClaimID: 7}}, time.Now().Add(time.Hour))
	tasks := slices.Clone(w.line)
	for _, t := range tasks {
		w.start(t)
	}
	return w, tasks
}

func TestAnAckWaitsForTheRestOfItsClaimWhichIsThenAckedAsOne(t *testing.T) {
	t.Parallel()
	w, tasks := taken(time.Hour)
	w.finish(tasks[0], result{verb: ack})
	w.finish(tasks[2], result{verb: ack})
	if _, all := w.gather(); len(all) != 0 {
		t.Fatalf("%v is settled while a handler runs", all)
	}
	w.finish(tasks[1], result{verb: ack})
	_, all := w.gather()
	if len(all) != 1 || all[0].item.claim != 7 || all[0].item.ids != nil {
		t.Fatalf("acks %+v, expected one of the whole claim", all)
	}
	w.forget(all[0])
	if h := w.Health(); h.Held != 0 || h.Busy != 0 || len(w.claims) != 0 {
		t.Errorf("%+v with %d claims after all is settled", h, len(w.claims))
	}
}

func TestAPartOfAClaimThatHasWaitedIsAckedByItsMessages(t *testing.T) {
	t.Parallel()
	w, tasks := taken(0)
	w.finish(tasks[2], result{verb: ack})
	w.finish(tasks[0], result{verb: ack})
	_, first := w.gather()
	if len(first) != 1 || !slices.Equal(first[0].item.ids, []int64{3, 1}) {
		t.Fatalf("acks %+v, expected one of messages 3 and 1", first)
	}
	w.finish(tasks[1], result{verb: ack}) // while the call is under way
	w.forget(first[0])
	_, rest := w.gather()
	if len(rest) != 1 || rest[0].acks != 1 || !slices.Equal(rest[0].item.ids, []int64{2}) {
		t.Fatalf("acks %+v, expected one of message 2, the last of the claim", rest)
	}
}

func TestAcksThatOthersWaitForDoNotWaitForTheRestOfTheirClaim(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(w *Worker, of *task){
		"one of a key":         func(_ *Worker, of *task) { of.message.Key = "k" },
		"a group with a limit": func(w *Worker, _ *task) { w.limited = true },
		"one of a key of an ordered group": func(w *Worker, of *task) {
			w.ordered, of.message.Key = true, "k"
		},
	} {
		w, tasks := taken(time.Hour)
		wait(w, tasks[1])
		w.finish(tasks[1], result{verb: ack})
		if _, acks := w.gather(); len(acks) != 1 || !slices.Equal(acks[0].item.ids, []int64{2}) {
			t.Errorf("%s: acks %+v, expected one of message 2", name, acks)
		}
	}
}

func TestAcksDoNotWaitWhereAMessageOfTheirClaimFailed(t *testing.T) {
	t.Parallel()
	w, tasks := taken(time.Hour)
	w.finish(tasks[0], result{verb: ack})
	w.finish(tasks[1], result{verb: nack, reason: "of the test"})
	_, all := w.gather()
	if len(all) != 2 || all[0].item.verb != ack || !slices.Equal(all[0].item.ids, []int64{1}) {
		t.Fatalf("%+v, expected first an ack of message 1", all)
	}
	if all[1].item.verb != nack || !slices.Equal(all[1].item.ids, []int64{2}) {
		t.Errorf("%+v, expected then a nack of message 2", all)
	}
}

func TestAWorkerAtItsFullestFetchesHalfWhileItHandlesTheOther(t *testing.T) {
	t.Parallel()
	w := NewWorker(&Client{}, "q", func(context.Context, *RawMessage) error { return nil },
		WorkerOptions{Prefetch: 4000})
	w.pace.now = 4000
	for _, held := range []int{0, 2000} {
		w.held = held
		if n, _ := w.free(); n != 2000 {
			t.Errorf("asks for %d while it holds %d", n, held)
		}
	}
	small := NewWorker(&Client{}, "q", func(context.Context, *RawMessage) error { return nil },
		WorkerOptions{Prefetch: 20})
	if n, _ := small.free(); n != 20 {
		t.Errorf("one that holds few asks for %d, expected all 20", n)
	}
}

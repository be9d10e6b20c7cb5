package weir

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

// settledBackend tells of how many claims each ack is.
type settledBackend struct {
	backend

	calls chan int
}

func (b settledBackend) settleEach(_ context.Context, _ string, items []settlement) ([]*int, error) {
	b.calls <- len(items)
	return slices.Repeat([]*int{new(1)}, len(items)), nil
}

// settlingWorker returns a worker that settles, with a cooldown longer than any test, what is finished by calls of the
// function, each with a claim of its own; and a channel that tells of how many claims each call of the engine is.
func settlingWorker(t *testing.T) (w *Worker, finished func(m *RawMessage, verb verb), calls chan int) {
	t.Helper()
	calls = make(chan int)
	client := &Client{b: settledBackend{calls: calls}}
	w = NewWorker(client, "q", func(context.Context, *RawMessage) error { return nil }, WorkerOptions{
		Prefetch: 1000, Cooldown: time.Hour, Lease: 1000 * time.Hour,
	})
	w.own = client
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.settleAll(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	next := int64(0)
	return w, func(m *RawMessage, verb verb) {
		next++
		m.ID, m.ClaimID = next, next
		w.take([]*RawMessage{m}, time.Now().Add(w.opt.Lease))
		w.finish(w.next(), result{verb: verb})
	}, calls
}

func TestAcksAreGatheredForAsLongAsNobodyWaitsForThem(t *testing.T) {
	t.Parallel()
	for name, hurry := range map[string]func(w *Worker, finished func(*RawMessage, verb)){
		"one of a key": func(_ *Worker, finished func(*RawMessage, verb)) { finished(&RawMessage{Key: "k"}, ack) },
		"a stop":       func(w *Worker, finished func(*RawMessage, verb)) { finished(&RawMessage{}, ack); w.softStop() },
		"a group with a limit": func(w *Worker, finished func(*RawMessage, verb)) {
			w.mu.Lock()
			w.limited = true
			w.mu.Unlock()
			finished(&RawMessage{}, ack)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, finished, calls := settlingWorker(t)
			finished(&RawMessage{}, ack)
			if n := <-calls; n != 1 {
				t.Errorf("the first ack is of %d claims", n)
			}
			for range 500 {
				finished(&RawMessage{}, ack)
				runtime.Gosched() // who does not wait settles meanwhile
			}
			hurry(w, finished)
			if n := <-calls; n != 501 {
				t.Errorf("an ack is of %d claims, want all 501", n)
			}
		})
	}
}

func TestAStepOfAWorkflowWaitsForNoCooldown(t *testing.T) {
	t.Parallel()
	_, finished, calls := settlingWorker(t)
	for range 3 {
		finished(&RawMessage{}, finish)
		<-calls
	}
}

func TestAnAckOfAnOrderedGroupWaitsForNoCooldown(t *testing.T) {
	t.Parallel()
	w, finished, calls := settlingWorker(t)
	w.mu.Lock()
	w.ordered, w.cool.on = true, true
	w.mu.Unlock()
	for _, key := range []string{"", "a", "a", "b"} {
		finished(&RawMessage{Key: key}, ack)
		<-calls
	}
}

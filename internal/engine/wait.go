package engine

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// How long a Waiter waits at a time: briefly at first, for a send that was under way when the mark was set notifies
// nobody, then longer, so that an idle consumer costs little.
const (
	stepMin = 2 * time.Millisecond
	stepMax = 250 * time.Millisecond
)

// Cause is why a wait ended.
type Cause int

// The causes.
const (
	Polled   Cause = iota // it was time to look again
	Armed                 // from now on the next send ends the wait
	Notified              // there was a send
	Ended                 // the context ended
)

// Counts say how waits ended, and how often a queue was marked for them.
type Counts struct {
	Polled, Notified, Marks int64
}

// counters are Counts that are being counted.
type counters struct {
	polled, notified, marks atomic.Int64
}

// Counts returns what has been counted so far.
func (l *Listener) Counts() Counts {
	if l == nil {
		return Counts{}
	}
	return Counts{
		Polled: l.counts.polled.Load(), Notified: l.counts.notified.Load(), Marks: l.counts.marks.Load(),
	}
}

// Waiter is one consumer's waiting for messages of a queue. The consumer receives, and when it got nothing it calls
// Wait and receives again, whatever the cause; when it got something it calls Found. One goroutine uses it.
type Waiter struct {
	listener *Listener
	queue    string
	step     time.Duration   // 0 before the first wait since something was found
	woken    <-chan struct{} // closed by the next send; nil while none would
}

// Waiter returns a Waiter for a queue.
func (l *Listener) Waiter(queue string) *Waiter {
	return &Waiter{listener: l, queue: queue}
}

// Found says that the consumer got messages.
func (w *Waiter) Found() { w.step, w.woken = 0, nil }

// Wait returns when the consumer should receive again, after most at the latest.
//
// The first wait only takes a breath. Where messages flow, the next ones are there by then, so that nobody marks the
// queue and no send has to notify. Then the queue is marked, and Wait returns at once, because a message may have come
// before the mark. From then on it waits for the notification, step by step.
func (w *Waiter) Wait(ctx context.Context, most time.Duration) Cause {
	if w.step == 0 {
		w.step = stepMin
		return w.count(idle(ctx, nil, min(most, spread(stepMin))))
	}
	if w.woken == nil {
		if w.woken = w.listener.arm(ctx, w.queue); w.woken != nil {
			w.step = stepMin
			return Armed
		}
	}
	cause := idle(ctx, w.woken, min(most, spread(w.step)))
	if cause == Polled && w.woken != nil {
		woken := w.woken
		w.woken = w.listener.arm(ctx, w.queue) // the mark may be gone with a send that was rolled back
		select {
		case <-woken: // in the last moment of the step
			cause = Notified
		default:
		}
	}
	switch cause {
	case Notified:
		w.Found() // or another consumer was quicker: then it begins anew, for the mark is gone
	case Polled:
		w.step = min(2*w.step, stepMax)
	case Armed, Ended:
	}
	return w.count(cause)
}

// count counts a cause.
func (w *Waiter) count(cause Cause) Cause {
	switch {
	case w.listener == nil:
	case cause == Polled:
		w.listener.counts.polled.Add(1)
	case cause == Notified:
		w.listener.counts.notified.Add(1)
	}
	return cause
}

// spread shortens a step by chance, so that consumers do not look all at once.
func spread(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/4)
}

// idle waits for a channel to close, for a time or for the end of the context.
func idle(ctx context.Context, woken <-chan struct{}, d time.Duration) Cause {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-woken:
		return Notified
	case <-timer.C:
		return Polled
	case <-ctx.Done():
		return Ended
	}
}

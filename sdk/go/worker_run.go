package weir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// reasonMax is how much of a reason is kept with a message, in bytes.
const reasonMax = 2000

// modulePath is what the names of this package's functions begin with.
const modulePath = "github.com/weirmq/weir/sdk/go"

// work runs what is in the line until no more will come: a task, and then those behind it.
func (w *Worker) work(calls context.Context) {
	base, cancel := context.WithCancelCause(calls)
	defer cancel(nil)
	defer context.AfterFunc(w.handlers, func() { cancel(context.Cause(w.handlers)) })()
	for t := w.next(); t != nil; t = w.next() {
		for ; t != nil; t = t.next {
			if base.Err() != nil {
				w.finishUnused(t)
				break
			}
			if !w.workOn(base, t) {
				w.drop(t.next)
				break
			}
		}
		w.ended()
	}
}

// workOn runs the handler for one message and records what shall become of it. It reports whether what comes behind
// the message may go on.
func (w *Worker) workOn(base context.Context, t *task) bool {
	t.ctx.Context = base
	defer t.ctx.end()
	if !w.start(t) {
		return false
	}
	err := w.call(&t.ctx, t.message)
	if err == nil {
		r := result{verb: ack}
		if t.message.result != nil || ofWorkflow(t.message) {
			r = result{verb: finish, value: t.message.result}
		}
		w.finish(t, r)
		return true
	}
	if cause := context.Cause(&t.ctx); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	r := resultOf(err)
	if errors.Is(err, ErrStopped) && r.delay == nil {
		now := time.Duration(0) // it was not the message's fault
		r.delay = &now
	}
	w.finish(t, r)
	if r.verb != snooze {
		w.failed(t.message, err)
	}
	return false
}

// start notes that a task runs, unless it is over already.
func (w *Worker) start(t *task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return false
	}
	t.running, t.began = true, time.Now()
	w.health.Busy++
	w.pace.began(t.began.Sub(t.claim.taken))
	return true
}

// call calls the handler, for no longer than it may take, and makes an error of a panic.
func (w *Worker) call(ctx context.Context, m *RawMessage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrHandlerPanic, v, ownStack())
		}
	}()
	if w.opt.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, w.opt.Timeout, ErrTimeout)
		defer cancel()
		err = w.handle(limited, m)
		if err != nil && ctx.Err() == nil && limited.Err() != nil && !errors.Is(err, ErrTimeout) {
			err = fmt.Errorf("%w: %w", ErrTimeout, err)
		}
		return err
	}
	return w.handle(ctx, m)
}

// ownStack is where a handler panicked: the frames that are neither this package's nor the runtime's.
func ownStack() string {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var text strings.Builder
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") && !strings.HasPrefix(frame.Function, modulePath+".") {
			fmt.Fprintf(&text, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		}
		if !more {
			return text.String()
		}
	}
}

// resultOf reads an error of a handler.
func resultOf(err error) result {
	r := result{verb: nack, reason: err.Error()}
	if len(r.reason) > reasonMax {
		r.reason = r.reason[:reasonMax]
	}
	var o *outcome
	if errors.As(err, &o) {
		r.delay = o.delay
		switch {
		case o.reject:
			r.verb = reject
		case o.snooze:
			r.verb = snooze
		}
	}
	return r
}

// renewAll extends the claims that are still worked on, a third of the lease after they were made or extended, until
// ctx ends. A claim that could not be extended in time is lost one step before the engine may give it away.
func (w *Worker) renewAll(ctx context.Context) {
	step := w.opt.Lease / 6
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.shed()
		w.cancelJobs(ctx)
		w.renew(ctx, w.aging(time.Now().Add(4*step), (*claim).locked))
		for _, c := range w.aging(time.Now().Add(step), (*claim).undecided) {
			w.lose(c, fmt.Errorf("extend claim %d: %w", c.id, ErrClaimLost))
		}
	}
}

// inOrder returns the claims in the order in which they are locked, so that no two calls wait for one another. The lock
// is held.
func (w *Worker) inOrder() []*claim {
	list := slices.Collect(maps.Values(w.claims))
	slices.SortFunc(list, func(a, b *claim) int { return cmp.Compare(a.id, b.id) })
	return list
}

// aging returns the claims whose deadline comes before t, but for some.
func (w *Worker) aging(t time.Time, but func(*claim) bool) []*claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*claim
	for _, c := range w.inOrder() {
		if c.deadline.Before(t) && !but(c) {
			list = append(list, c)
		}
	}
	return list
}

// cancelJobs cancels the handlers of jobs that were cancelled.
func (w *Worker) cancelJobs(ctx context.Context) {
	claims := w.aging(time.Now().Add(2*w.opt.Lease), func(*claim) bool { return false }) // all
	if !w.jobs || len(claims) == 0 {
		return
	}
	ids := make([]int64, len(claims))
	for i, c := range claims {
		ids[i] = c.id
	}
	call, end := context.WithTimeout(ctx, w.opt.Lease/6)
	defer end()
	gone, err := w.own.b.cancelled(call, w.queue, w.opt.Group, ids)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrNotSupported) {
		w.called(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.claims {
		for _, t := range c.tasks {
			if slices.Contains(gone, t.message.ID) && t.running && !t.over {
				t.ctx.cancel(ErrJobCancelled)
			}
		}
	}
}

// renew extends claims in one call, and each that could not be extended with the others in one of its own.
func (w *Worker) renew(ctx context.Context, claims []*claim) {
	if len(claims) == 0 {
		return
	}
	ids := make([]int64, len(claims))
	for i, c := range claims {
		ids[i] = c.id
	}
	call, cancel := context.WithTimeout(ctx, w.opt.Lease/3)
	defer cancel()
	began := time.Now()
	extended, err := w.own.b.extendEach(call, w.queue, w.opt.Group, ids, w.opt.Lease)
	switch {
	case ctx.Err() != nil:
		return
	case lost(err) && len(claims) == 1: // or finished
		w.mu.Lock()
		undecided := claims[0].undecided()
		w.mu.Unlock()
		if !undecided {
			w.lose(claims[0], err)
		}
		return
	case err != nil:
		w.called(err)
		return
	}
	w.mu.Lock()
	var alone []*claim
	for i, c := range claims {
		if extended[i] {
			c.deadline = began.Add(w.opt.Lease)
		} else {
			alone = append(alone, c)
		}
	}
	w.mu.Unlock()
	for _, c := range alone {
		w.renew(ctx, []*claim{c})
	}
}

package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

const (
	// ReceiversMax bounds the receives that wait, of all queues.
	ReceiversMax = 20_000
	// GroupReceiversMax bounds those of one group, so that it leaves room for others.
	GroupReceiversMax = ReceiversMax / 2
	// pollMax is how long a line waits before it looks again, whatever it has been told.
	pollMax = time.Minute
	// leaseMax and messagesMax are what the engine gives; what asks for more goes to it alone, to be told so.
	leaseMax    = 7 * 24 * time.Hour
	messagesMax = batchItems
)

// place is what receivers wait for.
type place struct {
	queue, group string
}

// receiver is one client that wants messages.
type receiver struct {
	want  engine.Want
	until time.Time // when it will have waited long enough, if the first attempt finds nothing; under the lock
	list  []engine.Message
	err   error
	done  chan struct{}
}

func (r *receiver) answer(list []engine.Message, err error) {
	r.list, r.err = list, err
	close(r.done)
}

// line is the receivers of one place. It has a goroutine as long as there are any.
type line struct {
	waiting []*receiver
	total   int                // those and the ones being claimed for
	fresh   bool               // somebody came, or something was sent, since the last look
	dry     bool               // the last claim found less than was wanted
	wake    context.CancelFunc // ends the goroutine's wait; nil while it does not wait
}

// stir has the goroutine look for messages now.
func (l *line) stir() {
	l.fresh = true
	if l.wake != nil {
		l.wake()
	}
}

// receivers are all lines.
type receivers struct {
	listener *engine.Listener
	tides    *tides
	call     func(ctx context.Context, at place, wants []engine.Want) ([][]engine.Message, error)
	drain    context.Context // ends every wait
	counts   counts
	ended    sync.WaitGroup

	mu    sync.Mutex
	lines map[place]*line
	total int // receivers in all lines
}

func newReceivers(
	drain context.Context, listener *engine.Listener, tides *tides,
	call func(context.Context, place, []engine.Want) ([][]engine.Message, error),
) *receivers {
	return &receivers{listener: listener, tides: tides, call: call, drain: drain, lines: map[place]*line{}}
}

// Receive claims up to want.Max messages; when there are none it waits for some, up to the given time, until the client
// goes away or the server stops.
func (d *Dispatcher) Receive(
	ctx context.Context, queue, group string, want engine.Want, wait time.Duration,
) ([]engine.Message, error) {
	if want.Max < 1 || want.Max > messagesMax || want.Lease < time.Millisecond || want.Lease > leaseMax {
		return d.receiveAlone(ctx, queue, group, want)
	}
	at := place{queue, group}
	r := &receiver{want: want, until: time.Now().Add(wait), done: make(chan struct{})}
	if !d.receivers.join(at, r, wait > 0) {
		return nil, ErrBusy
	}
	if wait > 0 {
		d.receivers.await(ctx, at, r, wait)
	}
	<-r.done
	if r.err == nil && ctx.Err() != nil {
		d.Release(queue, r.list)
		return nil, ctx.Err()
	}
	return r.list, r.err
}

// await returns when a receiver has its answer or a claim for it is under way.
func (rs *receivers) await(ctx context.Context, at place, r *receiver, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
		rs.leave(at, r)
	case <-ctx.Done():
		rs.leave(at, r)
	case <-rs.drain.Done():
		rs.leave(at, r)
	}
}

// join puts a receiver into its line. One that may wait does not have the line look at once when it has just looked:
// the next message wakes it.
func (rs *receivers) join(at place, r *receiver, patient bool) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.total >= ReceiversMax {
		return false
	}
	l := rs.lines[at]
	if l != nil && l.total >= GroupReceiversMax {
		return false
	}
	rs.total++
	if l == nil {
		l = &line{fresh: true}
		rs.lines[at] = l
		rs.ended.Go(func() { rs.serve(at, l) })
	}
	l.total++
	l.waiting = append(l.waiting, r)
	rs.tides.receiverCame(at.queue)
	if !patient {
		l.stir()
	}
	return true
}

// leave takes a receiver that has waited long enough out of its line and answers it with nothing. If a claim for it is
// under way, that one answers.
func (rs *receivers) leave(at place, r *receiver) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.until = time.Time{}
	l := rs.lines[at]
	if l == nil {
		return
	}
	i := slices.Index(l.waiting, r)
	if i < 0 {
		return
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	rs.total--
	l.total--
	r.answer(nil, nil)
	if len(l.waiting) == 0 {
		l.stir()
	}
}

// held returns how many receivers are in lines or being claimed for.
func (rs *receivers) held() int64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return int64(rs.total)
}

// sent has all lines of a queue look for messages.
func (rs *receivers) sent(queue string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for at, l := range rs.lines {
		if at.queue == queue {
			l.stir()
		}
	}
}

// awaited reports whether somebody waits for messages of a queue that had none.
func (rs *receivers) awaited(queue string) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for at, l := range rs.lines {
		if at.queue == queue && l.dry {
			return true
		}
	}
	return false
}

// serve claims for a line until nobody is in it.
func (rs *receivers) serve(at place, l *line) {
	waiter := rs.listener.Waiter(at.queue)
	for {
		switch filled, there := rs.once(at, l); {
		case !there:
			return
		case filled:
			waiter.Found()
		default:
			rs.rest(l, waiter)
		}
	}
}

// once makes one claim for those that wait, and reports whether all that they wanted was there, and whether anybody
// waited.
func (rs *receivers) once(at place, l *line) (filled, there bool) {
	rs.tides.beforeClaim(at.queue)
	defer rs.tides.enterClaim(at.queue)()
	batch := rs.next(at, l)
	if len(batch) == 0 {
		return false, false
	}
	return rs.claim(at, l, batch), true
}

// next takes the receivers of the next claim out of their line, and ends the line when there are none.
func (rs *receivers) next(at place, l *line) []*receiver {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	n, messages := 0, 0
	for n < len(l.waiting) {
		messages += l.waiting[n].want.Max
		if n > 0 && messages > batchItems {
			break
		}
		n++
	}
	if n == 0 {
		delete(rs.lines, at)
		return nil
	}
	batch := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	l.fresh = false
	return batch
}

// claim makes one call for a batch of receivers and reports whether all that they wanted was there. Who got nothing
// and has time goes back to the head of the line.
func (rs *receivers) claim(at place, l *line, batch []*receiver) bool {
	wants := make([]engine.Want, len(batch))
	for i, r := range batch {
		wants[i] = r.want
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	began := time.Now()
	shares, err := rs.call(ctx, at, wants)
	cancel()
	rs.counts.add(len(batch))
	now := time.Now()
	filled := err == nil && len(shares[len(shares)-1]) > 0
	rs.tides.claimed(at, shares, filled, now.Sub(began))
	var back []*receiver
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for i, r := range batch {
		switch {
		case err != nil:
			r.answer(nil, err)
		case len(shares[i]) == 0 && r.until.After(now):
			back = append(back, r)
		default:
			r.answer(shares[i], nil)
		}
	}
	l.dry = err == nil && !filled
	l.waiting = append(back, l.waiting...)
	rs.total -= len(batch) - len(back)
	l.total -= len(batch) - len(back)
	return filled
}

// rest waits until there may be messages or somebody came who does not wait.
func (rs *receivers) rest(l *line, waiter *engine.Waiter) {
	ctx, wake := context.WithCancel(context.Background())
	defer wake()
	rs.mu.Lock()
	if l.fresh || len(l.waiting) == 0 {
		rs.mu.Unlock()
		return
	}
	l.wake = wake
	rs.mu.Unlock()
	cause := waiter.Wait(ctx, pollMax)
	rs.mu.Lock()
	l.wake = nil
	rs.mu.Unlock()
	if cause == engine.Ended {
		waiter.Found() // there is traffic here: begin anew with the breath, so that no send has to notify
	}
}

// receiveAlone claims for one client whose demand is out of the ordinary.
func (d *Dispatcher) receiveAlone(
	ctx context.Context, queue, group string, want engine.Want,
) ([]engine.Message, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	list, err := d.engine.Receive(call, queue, group, want.Max, want.Lease)
	if err == nil && ctx.Err() != nil {
		d.Release(queue, list)
		return nil, ctx.Err()
	}
	return list, err
}

// Release gives back what was claimed for a client that went away before it got it: it is due at once, and this
// delivery is not counted.
func (d *Dispatcher) Release(queue string, list []engine.Message) {
	if len(list) == 0 {
		return
	}
	claim := list[0].ClaimID // one receive, one claim
	_, err := d.Settle(queue, []engine.ClaimPart{{Claim: claim, Verb: engine.VerbRelease}})
	if errors.Is(err, ErrAlone) || errors.Is(err, ErrBusy) {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		_, err = d.engine.Release(ctx, queue, claim, nil)
		cancel()
	}
	if err != nil {
		d.log.Warn("cannot give back a claim", "queue", queue, "claim_id", claim, "error", err)
	}
}

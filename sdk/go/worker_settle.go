package weir

import (
	"context"
	"slices"
	"time"
)

// due is what is to be settled of one claim in one way: an item of a call, and how many of the claim's acks it stands
// for; 0: for other results.
type due struct {
	claim *claim
	item  settlement
	acks  int
}

// like reports whether an item can say what another does.
func (d due) like(other due) bool {
	a, b := d.item, other.item
	return d.claim == other.claim && a.verb == b.verb && a.reason == b.reason && optionalOf(a.delay) == optionalOf(b.delay)
}

// settleAll sends results to the engine until ctx ends. What comes while a call is under way, or within the cooldown
// since its begin, goes out with the next, unless somebody waits for it: at a low rate nothing waits, at a high rate
// the calls are large.
func (w *Worker) settleAll(ctx context.Context) {
	delay := retryDelayMin
	var began time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.part:
			continue
		case <-w.result:
		case <-w.partDue():
		}
		// Else the next fetch waits for this, or the stop, or what comes next in order.
		if n, _ := w.free(); n > 0 && !w.ordered && !w.stopped() {
			pause(ctx, w.hurry, w.cool.time-time.Since(began))
		}
		began = time.Now()
		for !w.settleOnce(ctx) {
			pause(ctx, nil, jitter(delay))
			delay = min(2*delay, retryDelayMax)
			if ctx.Err() != nil {
				return
			}
		}
		delay = retryDelayMin
	}
}

// settleOnce settles what there is, and reports whether nothing is left to be tried again. Acks and finished jobs go
// first: a nack in an ordered group takes back all of its key that is not finished by then.
func (w *Worker) settleOnce(ctx context.Context) bool {
	jobs, others := w.gather()
	return w.settle(ctx, jobs) && w.settle(ctx, others)
}

// partDue returns what tells when a part of a claim is to be acked; nil when there is none.
func (w *Worker) partDue() <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first *claim
	for _, c := range w.claims {
		if len(c.acks) > 0 && (first == nil || c.since.Before(first.since)) {
			first = c
		}
	}
	if first == nil {
		return nil
	}
	return time.After(w.partWait - time.Since(first.since))
}

// gather returns the results of all claims: of jobs that are finished with a result, and all others, acks first. They
// stay with their claims until they are settled. A part of a claim waits a little for the rest: one ack for all of it
// costs no more than one of a single message.
func (w *Worker) gather() (jobs, others []due) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var unfinished []due
	for _, c := range w.inOrder() {
		for _, r := range c.results {
			d := due{claim: c, item: settlement{
				verb: r.verb, group: w.opt.Group, claim: c.id, ids: []int64{r.id}, delay: r.delay, reason: r.reason,
				result: r.value,
			}}
			last := len(unfinished) - 1
			switch {
			case r.verb == finish:
				jobs = append(jobs, d)
			case last >= 0 && unfinished[last].like(d): // such as those that are given back together
				unfinished[last].item.ids = append(unfinished[last].item.ids, r.id)
			default:
				unfinished = append(unfinished, d)
			}
		}
		if len(c.acks) == 0 || !c.whole() && len(c.results) == 0 && time.Since(c.since) < w.partWait {
			continue
		}
		done := due{claim: c, acks: len(c.acks), item: settlement{verb: ack, group: w.opt.Group, claim: c.id}}
		if c.partial || len(c.acks) < c.left || c.left == 1 {
			done.item.ids = slices.Clone(c.acks)
		}
		others = append(others, done)
	}
	return jobs, append(others, unfinished...)
}

// settle makes one call for all, and one for each that could not be done with the others. It reports whether nothing is
// left to be tried again.
func (w *Worker) settle(ctx context.Context, list []due) bool {
	if len(list) == 0 {
		return true
	}
	items := make([]settlement, len(list))
	for i, d := range list {
		items[i] = d.item
	}
	call, cancel := context.WithTimeout(ctx, max(w.opt.Lease, time.Second))
	defer cancel()
	counts, err := w.own.b.settleEach(call, w.queue, items)
	switch {
	case ctx.Err() != nil:
		return false
	case Retryable(err) || call.Err() != nil:
		w.called(err)
		return false
	case err != nil && len(list) == 1:
		w.lose(list[0].claim, err)
		return true
	}
	ok := true
	for i, d := range list {
		if i < len(counts) && counts[i] != nil {
			w.forget(d)
		} else {
			ok = w.settle(ctx, []due{d}) && ok
		}
	}
	return ok
}

// forget removes results that are settled.
func (w *Worker) forget(d due) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := d.claim
	if c.lost {
		return
	}
	if d.acks > 0 {
		c.acks = c.acks[d.acks:]
		if !c.since.IsZero() {
			c.since = time.Now()
		}
		w.settled(c, d.acks)
		return
	}
	settled := make(map[int64]bool, len(d.item.ids))
	for _, id := range d.item.ids {
		settled[id] = true
	}
	c.results = slices.DeleteFunc(c.results, func(r result) bool { return settled[r.id] })
	w.settled(c, len(settled))
}

// waitSettled returns when no message is held any more: each is settled, or lost with its claim.
func (w *Worker) waitSettled() {
	for w.Health().Held > 0 {
		<-w.empty
	}
}

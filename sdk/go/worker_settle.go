package weir

import (
	"context"
	"errors"
	"slices"
	"time"
)

// due is what is to be settled of one claim in one way: an item of a call, and the results it stands for.
type due struct {
	claim   *claim
	item    settlement
	results []result
}

// settleAll sends results to the engine until ctx ends. What comes while a call is under way, or within the cooldown,
// goes out with the next: at a low rate nothing waits, at a high rate the calls are large.
func (w *Worker) settleAll(ctx context.Context) {
	delay := retryDelayMin
	var began time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.result:
		}
		if n, _ := w.free(); n > 0 && !w.stopped() { // else the next fetch, or the stop, waits for this
			w.coolDown(ctx, w.hurry, began)
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

// settleOnce settles what there is, and reports whether nothing is left to be tried again. Acks go first: a nack in an
// ordered group takes back all of its key that is not finished by then.
func (w *Worker) settleOnce(ctx context.Context) bool {
	all := w.gather()
	for _, verb := range []verb{ack, finish, nack, reject, snooze, release} {
		if !w.settle(ctx, verb, all[verb]) {
			return false
		}
	}
	return true
}

// gather returns the results of all claims, by what is to be done. They stay with their claims until they are settled.
func (w *Worker) gather() map[verb][]due {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[verb][]due{}
	for _, c := range w.inOrder() {
		done := due{claim: c, item: settlement{group: w.opt.Group, claim: c.id}}
		for _, r := range c.results {
			if r.verb == ack {
				done.results = append(done.results, r)
				continue
			}
			all[r.verb] = append(all[r.verb], due{claim: c, results: []result{r}, item: settlement{
				group: w.opt.Group, claim: c.id, ids: []int64{r.id}, delay: r.delay, reason: r.reason,
				result: r.value,
			}}) // each has a reason of its own
		}
		if len(done.results) == 0 {
			continue
		}
		if c.partial || len(done.results) < c.left {
			for _, r := range done.results {
				done.item.ids = append(done.item.ids, r.id)
			}
		}
		all[ack] = append(all[ack], done)
	}
	return all
}

// settle makes one call for all, or one for each when one of them fails for good. It reports whether nothing is left
// to be tried again.
func (w *Worker) settle(ctx context.Context, verb verb, list []due) bool {
	if len(list) == 0 {
		return true
	}
	items := make([]settlement, len(list))
	for i, d := range list {
		items[i] = d.item
	}
	call, cancel := context.WithTimeout(ctx, max(w.opt.Lease, time.Second))
	defer cancel()
	_, err := w.own.b.settle(call, verb, w.queue, items)
	switch {
	case err == nil:
		for _, d := range list {
			w.forget(d)
		}
		return true
	case ctx.Err() != nil:
		return false
	case Retryable(err) || call.Err() != nil:
		w.called(err)
		return false
	case verb == release && errors.Is(err, ErrNotSupported): // by an engine of 0.1
		now := time.Duration(0)
		for i := range list {
			list[i].item.delay = &now
		}
		return w.settle(ctx, nack, list)
	case len(list) == 1:
		w.lose(list[0].claim, err)
		return true
	}
	ok := true
	for _, d := range list {
		ok = w.settle(ctx, verb, []due{d}) && ok
	}
	return ok
}

// forget removes results that are settled.
func (w *Worker) forget(d due) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.claim.lost {
		return
	}
	rest := d.results // in the order of the claim's
	d.claim.results = slices.DeleteFunc(d.claim.results, func(r result) bool {
		gone := len(rest) > 0 && rest[0].id == r.id
		if gone {
			rest = rest[1:]
		}
		return gone
	})
	w.settled(d.claim, len(d.results))
}

// waitSettled returns when no message is held any more: each is settled, or lost with its claim.
func (w *Worker) waitSettled() {
	for w.Health().Held > 0 {
		<-w.empty
	}
}

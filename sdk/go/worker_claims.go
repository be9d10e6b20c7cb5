package weir

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// claim is a claim that this worker has messages of.
type claim struct {
	id       int64
	deadline time.Time // by our clock, and no later than the engine's
	taken    time.Time // when its first messages came
	left     int       // messages that are not settled
	results  []result  // to settle
	partial  bool      // not all its messages end with an ack, so that it must not be acked as a whole
	lost     bool
	tasks    []*task
}

// task is a message on its way through the worker.
type task struct {
	message *RawMessage
	claim   *claim
	cancel  context.CancelCauseFunc // of its handler, while it runs
	over    bool                    // has a result, or was dropped
}

// undecided reports whether all that is left of a claim is being settled: what settles it, and no lease, tells what
// became of it. The lock is held.
func (c *claim) undecided() bool {
	return !slices.ContainsFunc(c.tasks, func(t *task) bool { return !t.over && !t.message.own.decides() })
}

// locked reports whether a handler's own transaction holds a claim, so that a renewal would wait for that. The lock is
// held.
func (c *claim) locked() bool {
	return slices.ContainsFunc(c.tasks, func(t *task) bool { return t.message.own.open() })
}

// result is what shall become of a message.
type result struct {
	verb   verb
	id     int64
	delay  *time.Duration
	reason string
	value  json.RawMessage // of finish
}

// fetchAll claims messages until the worker is stopped.
func (w *Worker) fetchAll(calls context.Context) {
	ctx, cancel := context.WithCancel(calls)
	defer cancel()
	go func() {
		select {
		case <-w.stopping:
		case <-ctx.Done():
		}
		cancel()
	}()
	idle := waiter{queue: w.queue}
	if p, ok := w.client.b.(*postgres); ok {
		idle.ear = p.ear
	}
	retryDelay := retryDelayMin
	for !w.stopped() {
		n, scarce := w.free()
		if n == 0 {
			signal(w.hurry)
			select {
			case <-w.room:
			case <-w.stopping:
			}
			continue
		}
		lone := idle.told() && !w.ordered // one message is had sooner than as many as there are
		if lone {
			n = 1
		}
		began := time.Now()
		got, err := w.fetch(calls, n, scarce || lone)
		switch {
		case err != nil:
			w.called(err)
			if !Retryable(err) {
				retryDelay = retryDelayMax
			}
			pause(ctx, nil, jitter(retryDelay))
			retryDelay = min(2*retryDelay, retryDelayMax)
		case got > 0:
			retryDelay = retryDelayMin
			if idle.found(); idle.rare {
				idle.wait(ctx, stepMax) // marks the queue, so that the next fetch sees whether that was all
			}
			if got < n {
				w.coolDown(ctx, nil, began)
			}
		default:
			retryDelay = retryDelayMin
			idle.wait(ctx, stepMax)
		}
	}
	w.giveBack()
}

// free returns for how many messages there is room: none while it is less than a quarter, so that claims stay large. In
// an ordered group all of a claim may have one key, which keeps one handler busy. Keys are scarce when there are fewer
// units than handlers: then there is room for one handler's share more, until twice as many are held.
func (w *Worker) free() (n int, scarce bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = w.pace.now - w.held
	if n > 0 && n >= w.pace.now/4 {
		return n, false
	}
	if w.ordered && w.unitsLeft < w.opt.Concurrency {
		return max(0, min(w.pace.now/w.opt.Concurrency, 2*w.pace.most-w.held)), true
	}
	return 0, false
}

// fetch claims up to n messages and hands them out. A stop does not break the call off: a claim that nobody has seen
// would keep its messages until the lease ends.
func (w *Worker) fetch(calls context.Context, n int, scarce bool) (int, error) {
	ctx, cancel := context.WithTimeout(calls, max(w.opt.Lease, callTimeout))
	defer cancel()
	o := receiveOptions{group: w.opt.Group, max: n, lease: w.opt.Lease}
	if _, remote := w.client.b.(*httpBackend); remote {
		o.wait = min(remoteWait, w.opt.Lease/4) // the deadline is counted from before it
	}
	began := time.Now()
	messages, err := w.own.b.receive(ctx, w.queue, o)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.health.LastReceive, w.health.Err = time.Now(), nil
	full := len(messages) == n
	if !scarce { // which tells nothing of how quick the handlers are
		w.pace.fetched(full)
	}
	w.cool.fetched(began, len(messages), full && !scarce)
	w.mu.Unlock()
	for _, unit := range w.take(messages, began.Add(w.opt.Lease)) {
		w.units <- unit
	}
	return len(messages), nil
}

// coolDown returns when the next call may begin after one that began at a time, or has to: ctx ends, or hurry says so.
func (w *Worker) coolDown(ctx context.Context, hurry <-chan struct{}, began time.Time) {
	w.mu.Lock()
	left := w.cool.left(time.Since(began))
	w.mu.Unlock()
	if left > 0 {
		pause(ctx, hurry, left)
	}
}

const (
	callTimeout = 30 * time.Second // of calls whose answer cannot be missed lightly
	remoteWait  = 2 * time.Second  // for which a server is asked to wait; a stop waits for it
)

// take registers messages and returns them as units.
func (w *Worker) take(messages []*RawMessage, deadline time.Time) [][]*task {
	w.mu.Lock()
	defer w.mu.Unlock()
	type line struct {
		claim int64
		key   string
	}
	now := time.Now()
	var units [][]*task
	lines := map[line]int{}
	for _, m := range messages {
		m.client, m.own = w.client, &ownTransaction{}
		c := w.claims[m.ClaimID]
		if c == nil {
			c = &claim{id: m.ClaimID, deadline: deadline, taken: now}
			w.claims[c.id] = c
		}
		t := &task{message: m, claim: c}
		c.tasks = append(c.tasks, t)
		c.left++
		w.held++
		if !w.ordered {
			units = append(units, []*task{t})
			continue
		}
		at := line{m.ClaimID, m.Key}
		if i, begun := lines[at]; begun {
			units[i] = append(units[i], t)
			continue
		}
		lines[at] = len(units)
		units = append(units, []*task{t})
	}
	if w.ordered {
		w.unitsLeft += len(units)
	}
	return units
}

// ended counts a unit of an ordered group as run to its end, or given back.
func (w *Worker) ended() {
	if !w.ordered {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unitsLeft--
	signal(w.room)
}

// finish records the result of a task, unless the task is over already.
func (w *Worker) finish(t *task, r result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.over {
		return
	}
	t.over = true
	r.id = t.message.ID
	t.claim.results = append(t.claim.results, r)
	t.claim.partial = t.claim.partial || r.verb != ack
	signal(w.result)
}

// drop forgets tasks without a result: those behind a failed one, which the engine takes back with it.
func (w *Worker) drop(tasks []*task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range tasks {
		if !t.over {
			t.over, t.claim.partial = true, true
			w.settled(t.claim, 1)
		}
	}
}

// settled counts messages of a claim as settled and forgets it with the last. The lock is held.
func (w *Worker) settled(c *claim, n int) {
	c.left -= n
	w.held -= n
	if c.left == 0 {
		delete(w.claims, c.id)
	}
	signal(w.room)
	if w.held == 0 {
		signal(w.empty)
	}
}

// lose gives up a claim that is not ours any more: its handlers are cancelled, its results dropped. A handler whose own
// transaction has settled its message goes on: nobody else gets that.
func (w *Worker) lose(c *claim, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.lost || w.claims[c.id] != c {
		return
	}
	c.lost = true
	c.results = nil
	for _, t := range c.tasks {
		t.over = true
		if t.cancel != nil && !t.message.own.decides() {
			t.cancel(ErrClaimLost)
		}
	}
	w.settled(c, c.left)
	if err != nil {
		go w.failed(nil, err)
	}
}

// giveBack returns what has not begun, so that nobody waits for the lease. Called when no more is claimed.
func (w *Worker) giveBack() {
	for w.giveBackOne() {
	}
}

// giveBackOne returns a unit that has not begun, and reports whether there was one.
func (w *Worker) giveBackOne() bool {
	select {
	case unit, open := <-w.units:
		if !open {
			return false
		}
		w.finishUnused(unit)
		w.ended()
		return true
	default:
		return false
	}
}

// shed gives back units that were claimed when handlers were quicker than they are now: another worker would do them
// sooner. What waits behind others of its key, nobody would.
func (w *Worker) shed() {
	w.mu.Lock()
	held, excess := w.held, 0
	if w.ordered {
		held = w.unitsLeft
	}
	for _, c := range w.claims {
		if c.waits() && time.Since(c.taken) > shedAfter {
			w.pace.now = w.pace.least
			excess = held - w.pace.least
		}
	}
	w.mu.Unlock()
	for ; excess > 0 && w.giveBackOne(); excess-- {
	}
}

// shedAfter is how long a message may wait for a handler before it is given back, where more is held than need be.
const shedAfter = time.Second

// waits reports whether a message of the claim waits for a handler.
func (c *claim) waits() bool {
	return slices.ContainsFunc(c.tasks, func(t *task) bool { return t.cancel == nil && !t.over })
}

// finishUnused gives back tasks that have not begun.
func (w *Worker) finishUnused(tasks []*task) {
	for _, t := range tasks {
		w.finish(t, result{verb: release})
	}
}

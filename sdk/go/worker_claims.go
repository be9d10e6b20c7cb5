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
	acks     []int64   // messages to ack, in the order in which their handlers ended
	since    time.Time // when the first of acks came; zero when other messages wait for one of them
	results  []result  // to settle, other than by an ack
	partial  bool      // not all its messages end with an ack, so that it must not be acked as a whole
	lost     bool
	tasks    []*task
}

// task is a message on its way through the worker.
type task struct {
	message *RawMessage
	claim   *claim
	next    *task // of the same key, in an ordered group
	own     ownTransaction
	ctx     messageContext // of its handler
	running bool
	began   time.Time // its handler
	over    bool      // has a result, or was dropped
}

// undecided reports whether all that is left of a claim is being settled: what settles it, and no lease, tells what
// became of it. The lock is held.
func (c *claim) undecided() bool {
	return !slices.ContainsFunc(c.tasks, func(t *task) bool { return !t.over && !t.own.decides() })
}

// locked reports whether a handler's own transaction holds a claim, so that a renewal would wait for that. The lock is
// held.
func (c *claim) locked() bool {
	return slices.ContainsFunc(c.tasks, func(t *task) bool { return t.own.open() })
}

// whole reports whether all that is left of a claim has a result. The lock is held.
func (c *claim) whole() bool { return len(c.acks)+len(c.results) == c.left }

// result is what shall become of a message.
type result struct {
	verb   verb
	id     int64
	delay  *time.Duration
	reason string
	value  json.RawMessage // of finish
}

// fetchAll claims messages until the worker is stopped. It returns an error when the first fetch fails for good.
func (w *Worker) fetchAll(calls context.Context) error {
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
	for starting := true; !w.stopped(); {
		n, scarce := w.free()
		if n == 0 {
			signal(w.hurry)
			select {
			case <-w.room:
			case <-w.stopping:
			}
			continue
		}
		lone := idle.told && !w.ordered // one message is had sooner than as many as there are
		if lone {
			n = 1
		}
		began := time.Now()
		got, err := w.fetch(calls, n, scarce || lone)
		if starting && err != nil && !Retryable(err) {
			return err
		}
		starting = starting && err != nil
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
				w.coolDown(ctx, began)
			}
		default:
			retryDelay = retryDelayMin
			idle.wait(ctx, stepMax)
		}
	}
	w.giveBack()
	return nil
}

// free returns for how many messages there is room: none while it is less than a quarter, so that claims stay large. In
// an ordered group all of a claim may have one key, which keeps one handler busy. Keys are scarce when there are fewer
// units than handlers: then there is room for one handler's share more, until twice as many are held.
func (w *Worker) free() (n int, scarce bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = w.pace.now - w.held
	if n > 0 && n >= w.pace.now/4 {
		return min(n, w.pace.claimMax()), false
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
	messages, err := w.fetching.b.receive(ctx, w.queue, o)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.health.LastReceive, w.health.Err = time.Now(), nil
	full := len(messages) == n
	if !scarce { // which tells nothing of how quick the handlers are
		w.pace.fetched(len(messages), payloadBytes(messages), full)
	}
	w.cool.fetched(began, len(messages), full && !scarce)
	w.mu.Unlock()
	w.take(messages, began.Add(w.opt.Lease))
	return len(messages), nil
}

// payloadBytes returns how much memory messages take, more or less.
func payloadBytes(messages []*RawMessage) (n int) {
	for _, m := range messages {
		n += len(m.Payload) + len(m.Body)
	}
	return n
}

// coolDown returns when the next fetch may begin after one that began at a time, or when ctx ends.
func (w *Worker) coolDown(ctx context.Context, began time.Time) {
	w.mu.Lock()
	left := w.cool.left(time.Since(began))
	w.mu.Unlock()
	if left > 0 {
		pause(ctx, nil, left)
	}
}

const (
	callTimeout = 30 * time.Second // of calls whose answer cannot be missed lightly
	remoteWait  = 2 * time.Second  // for which a server is asked to wait; a stop waits for it
)

// take registers messages and puts them into the line of what handlers begin with: of an ordered group the first of
// each key. One block of memory holds their tasks.
func (w *Worker) take(messages []*RawMessage, deadline time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	type line struct {
		claim int64
		key   string
	}
	now := time.Now()
	block := make([]task, len(messages))
	last := map[line]*task{}
	begun := len(w.line)
	var c *claim
	for i, m := range messages {
		if c == nil || c.id != m.ClaimID {
			c = w.claim(m.ClaimID, deadline, now)
		}
		t := &block[i]
		t.message, t.claim = m, c
		m.client, m.own = w.client, &t.own
		c.tasks = append(c.tasks, t)
		c.left++
		if w.ordered {
			at := line{c.id, m.Key}
			before := last[at]
			if last[at] = t; before != nil {
				before.next = t
				continue
			}
		}
		w.line = append(w.line, t)
	}
	w.held += len(messages)
	if w.ordered {
		w.unitsLeft += len(w.line) - begun
	}
	w.more.Broadcast()
}

// claim returns a claim of ours, which may be new. The lock is held.
func (w *Worker) claim(id int64, deadline, now time.Time) *claim {
	c := w.claims[id]
	if c == nil {
		c = &claim{id: id, deadline: deadline, taken: now}
		w.claims[id] = c
	}
	return c
}

// next waits for the first task of the line and takes it out; nil when no more will come.
func (w *Worker) next() *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.line) == 0 && !w.closed {
		w.more.Wait()
	}
	return w.first()
}

// first takes the first task out of the line; nil when it is empty. The lock is held.
func (w *Worker) first() *task {
	if len(w.line) == 0 {
		return nil
	}
	t := w.line[0]
	w.line[0] = nil
	w.line = w.line[1:]
	return t
}

// close says that no more will come into the line.
func (w *Worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.more.Broadcast()
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
	if t.running {
		t.running = false
		w.health.Busy--
		w.pace.did(time.Since(t.began))
	}
	if t.over {
		return
	}
	t.over = true
	c, id := t.claim, t.message.ID
	if r.verb == ack {
		if len(c.acks) == 0 {
			c.acks, c.since = slices.Grow(c.acks, c.left), time.Now()
			signal(w.part)
		}
		c.acks = append(c.acks, id)
	} else {
		r.id = id
		c.results = append(c.results, r)
		c.partial = true
		signal(w.result)
	}
	if !w.cool.on && w.awaited(t.message, r.verb) {
		c.since = time.Time{}
		signal(w.result)
		signal(w.hurry)
	}
	if c.whole() {
		signal(w.result)
	}
}

// awaited reports whether other messages may wait for what becomes of one: the next step of a workflow, those of its
// key, and all of a group with a limit. The lock is held.
func (w *Worker) awaited(m *RawMessage, verb verb) bool {
	return verb != ack || m.Key != "" || w.limited
}

// drop forgets a task, and those behind it, without a result: the engine takes them back with a failed one.
func (w *Worker) drop(t *task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ; t != nil; t = t.next {
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
	c.acks, c.results = nil, nil
	for _, t := range c.tasks {
		t.over = true
		if t.running && !t.own.decides() {
			t.ctx.cancel(ErrClaimLost)
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
	w.mu.Lock()
	t := w.first()
	w.mu.Unlock()
	if t == nil {
		return false
	}
	w.finishUnused(t)
	w.ended()
	return true
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
	return slices.ContainsFunc(c.tasks, func(t *task) bool { return !t.running && !t.over })
}

// finishUnused gives back a task that has not begun, and those behind it.
func (w *Worker) finishUnused(t *task) {
	for ; t != nil; t = t.next {
		w.finish(t, result{verb: release})
	}
}

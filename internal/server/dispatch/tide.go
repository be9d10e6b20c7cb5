package dispatch

import (
	"maps"
	"sync"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

const (
	// A send waits for at most so many calls of consumers, and for no longer than this.
	yieldCalls = 8
	yieldMax   = 50 * time.Millisecond
	// patienceMax is how long a call waits at most for those who are expected to share it.
	patienceMax = 20 * time.Millisecond
	// Above so many queues, those that were quiet for so long are forgotten.
	tidesMax = 1000
	quiet    = time.Second
)

// tides know, for each queue, what its consumers and producers are up to, so that calls are made when they are worth
// most: one with what a crowd asks for costs little more than one for a single client.
//
// What is known only ever delays a call, and not for long: it says nothing of other servers, or of those who use SQL.
type tides struct {
	patience time.Duration // patienceMax but in tests
	yield    time.Duration // yieldMax but in tests
	mu       sync.Mutex
	queues   map[string]*tide
	swept    time.Time // when quiet queues were last forgotten
}

// tide is what is known of one queue.
type tide struct {
	calls   int              // consumers' calls under way
	claims  int              // those of them that claim
	ended   int              // how many calls have ended
	acks    int              // acks that came and are not answered
	handed  crowd            // consumers who were just handed messages: they may ack at once
	acked   crowd            // consumers whose acks were just answered: they may ask for more at once
	took    time.Duration    // the last claim
	leads   map[string]*lead // by group
	changed chan struct{}    // closed at the next change; nil while nobody waits for one
	used    time.Time
}

// crowd are clients that were answered together and may be back together.
type crowd struct {
	n     int
	until time.Time // they are not waited for any longer
}

// lead is how far the producers are ahead of a group.
type lead struct {
	ahead   int // messages sent since, less those claimed
	claimed int // by the last claim
}

func newTides() *tides {
	return &tides{patience: patienceMax, yield: yieldMax, queues: map[string]*tide{}}
}

// on changes what is known of a queue, and tells those who wait for it when it matters to them.
func (ts *tides) on(queue string, change func(t *tide) (matters bool)) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.queues[queue]
	if t == nil {
		ts.forget()
		t = &tide{leads: map[string]*lead{}}
		ts.queues[queue] = t
	}
	t.used = time.Now()
	if change(t) && t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// forget drops what is known of quiet queues when there is much. The lock is held.
func (ts *tides) forget() {
	if len(ts.queues) < tidesMax || time.Since(ts.swept) < quiet {
		return
	}
	ts.swept = time.Now()
	maps.DeleteFunc(ts.queues, func(_ string, t *tide) bool {
		return t.calls == 0 && t.acks == 0 && t.changed == nil && time.Since(t.used) > quiet
	})
}

// enter notes a consumer's call and returns what notes its end.
func (ts *tides) enter(queue string) (end func()) {
	ts.on(queue, func(t *tide) bool { t.calls++; return false })
	return func() {
		ts.on(queue, func(t *tide) bool { t.calls--; t.ended++; return true })
	}
}

// enterClaim is enter for a call that claims.
func (ts *tides) enterClaim(queue string) (end func()) {
	ended := ts.enter(queue)
	ts.on(queue, func(t *tide) bool { t.claims++; return false })
	return func() {
		ts.on(queue, func(t *tide) bool { t.claims--; return false })
		ended()
	}
}

// sent notes messages that can be received now.
func (ts *tides) sent(queue string, messages int) {
	ts.on(queue, func(t *tide) bool {
		for _, l := range t.leads {
			l.ahead += messages
		}
		return false
	})
}

// claimed notes what a claim for a group got for each consumer, and whether there was as much as they wanted.
func (ts *tides) claimed(at place, shares [][]engine.Message, filled bool, took time.Duration) {
	consumers, messages := 0, 0
	for _, share := range shares {
		messages += len(share)
		consumers += min(1, len(share))
	}
	ts.on(at.queue, func(t *tide) bool {
		l := t.leads[at.group]
		if l == nil {
			l = &lead{}
			t.leads[at.group] = l
		}
		l.claimed = messages
		l.ahead = max(0, l.ahead-messages)
		if !filled {
			l.ahead = 0
		}
		t.took = took
		t.handed = crowd{consumers, ts.soon(t)}
		return true
	})
}

// ackCame notes that a consumer wants an ack.
func (ts *tides) ackCame(queue string) {
	ts.on(queue, func(t *tide) bool { t.acks++; return t.handed.arrive() })
}

// settleCame notes that a consumer wants something else than an ack for what it was handed.
func (ts *tides) settleCame(queue string) {
	ts.on(queue, func(t *tide) bool { return t.handed.arrive() })
}

// ackAnswered notes that a consumer gets the answer to an ack.
func (ts *tides) ackAnswered(queue string) {
	ts.on(queue, func(t *tide) bool {
		t.acks--
		if t.acked.until.Before(time.Now()) {
			t.acked.n = 0
		}
		t.acked = crowd{t.acked.n + 1, ts.soon(t)}
		return t.acks == 0
	})
}

// receiverCame notes that a consumer wants messages.
func (ts *tides) receiverCame(queue string) {
	ts.on(queue, func(t *tide) bool { return t.acked.arrive() })
}

// soon is when clients that are answered now are back if they come at once: within about the time that a claim takes.
func (ts *tides) soon(t *tide) time.Time { return time.Now().Add(min(2*t.took, ts.patience)) }

// arrive notes that one of a crowd is back, and reports whether it was the last.
func (c *crowd) arrive() bool {
	c.n = max(0, c.n-1)
	return c.n == 0
}

// expected returns until when somebody of a crowd is waited for; a time that is over when nobody is.
func (c *crowd) expected() time.Time {
	if c.n == 0 {
		return time.Time{}
	}
	return c.until
}

// behind reports whether a group has at least as much to claim as it last claimed.
func (t *tide) behind() bool {
	for _, l := range t.leads {
		if l.ahead >= max(1, l.claimed) {
			return true
		}
	}
	return false
}

// beforeSend waits while the consumers have enough to do. A consumer needs two calls for a message and a producer one,
// so that where both work as fast as they can, a queue would otherwise grow without end. A consumer that is busy with a
// message, or waits for one, makes no calls and delays nobody.
func (ts *tides) beforeSend(queue string) {
	began, last := time.Now(), -1
	ts.wait(queue, func(t *tide) (until time.Time) {
		if last < 0 {
			last = t.ended + yieldCalls
		}
		switch {
		case !t.behind() || t.ended >= last:
			return time.Time{}
		case t.calls > 0 || t.acks > 0:
			return began.Add(ts.yield)
		}
		if handed, acked := t.handed.expected(), t.acked.expected(); handed.After(acked) {
			return handed
		}
		return t.acked.expected()
	})
}

// beforeAcks waits for a claim under way, and for the consumers that were just handed messages.
func (ts *tides) beforeAcks(queue string) {
	began := time.Now()
	ts.wait(queue, func(t *tide) (until time.Time) {
		if t.claims > 0 {
			return began.Add(ts.yield)
		}
		return t.handed.expected()
	})
}

// beforeClaim waits for the consumers whose acks are being answered.
func (ts *tides) beforeClaim(queue string) {
	var limit time.Time
	ts.wait(queue, func(t *tide) (until time.Time) {
		if limit.IsZero() {
			limit = ts.soon(t)
		}
		if t.acks > 0 {
			return limit
		}
		return t.acked.expected()
	})
}

// wait waits as long as a function of what is known says, which is asked again at each change.
func (ts *tides) wait(queue string, until func(*tide) time.Time) {
	for {
		rest, changed := ts.look(queue, until)
		if rest <= 0 {
			return
		}
		timer := time.NewTimer(rest)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// look returns how long to wait and what is closed at the next change.
func (ts *tides) look(queue string, until func(*tide) time.Time) (time.Duration, <-chan struct{}) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.queues[queue]
	if t == nil {
		return 0, nil
	}
	rest := time.Until(until(t))
	if rest > 0 && t.changed == nil {
		t.changed = make(chan struct{})
	}
	return rest, t.changed
}

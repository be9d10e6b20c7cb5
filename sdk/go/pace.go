package weir

import "time"

const (
	heldMax      = 10_000                 // messages
	heldBytesMax = 32 << 20               // of their payloads, unless there are few
	heldMany     = 1000                   // messages; a claim of so many costs little more than one of a few
	waitMax      = 100 * time.Millisecond // that messages shall wait in a worker for a handler, at most
)

// pace decides how many messages a worker holds: as many as its handlers work off in waitMax, so that few calls serve
// quick handlers, and no message waits here for slow ones that another worker could begin with.
type pace struct {
	least, most int
	now         int // between the two
	concurrency int
	took        time.Duration // a handler, by and by
	ended       int           // handlers, since the last fetch
	sum         time.Duration // that they took
	wait        time.Duration // the longest from a claim to the begin of a handler, since the last fetch
}

func newPace(o WorkerOptions) pace {
	most := max(heldMax, 2*o.Concurrency)
	if o.Prefetch > 0 {
		most = max(o.Prefetch, o.Concurrency)
	}
	least := min(2*o.Concurrency, most)
	return pace{least: least, most: most, now: least, concurrency: o.Concurrency}
}

// claimMax is how many messages a fetch asks for at most: half of many, so that handlers have the other half meanwhile.
func (p *pace) claimMax() int {
	if p.now >= heldMany {
		return p.now / 2
	}
	return p.now
}

// began sees a handler begin with a message that was claimed so long ago.
func (p *pace) began(wait time.Duration) { p.wait = max(p.wait, wait) }

// did sees a handler end that took so long.
func (p *pace) did(took time.Duration) {
	p.ended++
	p.sum += took
}

// fetched sees a fetch of messages of so many bytes. One that got all it asked for doubles the number, if handlers have
// ended since the one before. A message that had waited too long lowers it, and so do slow handlers and many bytes.
func (p *pace) fetched(messages, bytes int, full bool) {
	if p.ended > 0 {
		took := p.sum / time.Duration(p.ended)
		if p.took > 0 {
			took = (took + p.took) / 2
		}
		p.took = max(took, 1)
		if full {
			p.now *= 2
		}
		p.now = min(p.now, int(int64(p.concurrency)*int64(waitMax)/int64(p.took)))
	}
	if p.wait > waitMax {
		p.now = int(int64(p.now) * int64(waitMax) / int64(p.wait))
	}
	if bytes > 0 {
		p.now = min(p.now, heldBytesMax*messages/bytes)
	}
	p.now = min(max(p.now, p.least), p.most)
	p.wait, p.ended, p.sum = 0, 0, 0
}

const (
	cooldownTime   = 5 * time.Millisecond
	cooldownWorth  = 16 // messages that come during a cooldown: then a fetch for all of them saves that many
	cooldownWindow = 200 * time.Millisecond
	cooldownOffMax = 64  // windows
	cooldownLease  = 200 // how much shorter than a lease it is at least, so that no ack is late
)

// cooldown decides whether a worker leaves some time between two fetches: only while so many messages come that they
// would keep it busy one by one. Where the next messages come only once these are done, as of jobs that send others,
// time between fetches makes fewer come. So it looks whether they do, window by window.
type cooldown struct {
	time time.Duration // between the begins of two fetches, and of two acks; 0: never any
	on   bool

	since    time.Time // begin of the window
	messages int       // in the window
	usual    float64   // messages a second in the window before it was switched on
	off      int       // windows to come in which it stays off
	offNext  int       // so many the next time that it made fewer messages come
}

func newCooldown(o WorkerOptions) cooldown {
	c := cooldown{time: o.Cooldown, offNext: 1}
	if c.time == 0 {
		c.time = cooldownTime
	}
	c.time = min(max(c.time, 0), o.Lease/cooldownLease)
	return c
}

// left returns how long to wait for the begin of a fetch after one that began so long ago.
func (c *cooldown) left(ago time.Duration) time.Duration {
	if !c.on {
		return 0
	}
	return max(c.time-ago, 0)
}

// fetched sees a fetch that got so many messages, or none. A full one tells how quick the worker is, not how many
// messages come.
func (c *cooldown) fetched(now time.Time, messages int, full bool) {
	if full || c.since.IsZero() {
		c.since, c.messages = now, 0
		return
	}
	c.messages += messages
	if length := now.Sub(c.since); length >= cooldownWindow {
		c.judge(float64(c.messages) / length.Seconds())
		c.since, c.messages = now, 0
	}
}

// judge sees a window in which so many messages came a second.
func (c *cooldown) judge(rate float64) {
	worth := rate*c.time.Seconds() >= cooldownWorth
	switch {
	case c.on && rate < c.usual*2/3:
		c.on, c.off = false, c.offNext
		c.offNext = min(2*c.offNext, cooldownOffMax)
	case c.on:
		c.offNext = 1
	case c.off > 0:
		c.off--
	case worth:
		c.on, c.usual = true, rate
	}
}

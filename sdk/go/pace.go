package weir

import "time"

const (
	heldMax = 1000                   // messages; a claim of so many costs little more than one of a few
	waitMax = 100 * time.Millisecond // that messages shall wait in a worker for a handler
)

// pace decides how many messages a worker holds: many while handlers are quick, so that few calls serve them all, and
// few when they are slow, so that no message waits here that another worker could begin with.
type pace struct {
	least, most int
	now         int           // between the two
	wait        time.Duration // the longest from a claim to the begin of a handler, since the last fetch
	begun       bool          // a handler did, since the last fetch
}

func newPace(o WorkerOptions) pace {
	least := max(o.Prefetch, o.Concurrency)
	if o.Prefetch > 0 {
		return pace{least: least, most: least, now: least}
	}
	least = 2 * o.Concurrency
	return pace{least: least, most: max(least, heldMax), now: least}
}

// began sees a handler begin with a message that was claimed so long ago.
func (p *pace) began(wait time.Duration) {
	p.wait = max(p.wait, wait)
	p.begun = true
}

// fetched sees a fetch: one that got all it asked for raises the number, unless no handler began with a message before
// it, or one began with a message that had waited too long.
func (p *pace) fetched(full bool) {
	switch {
	case p.wait > waitMax:
		p.now = int(int64(p.now) * int64(waitMax) / int64(p.wait))
	case full && p.begun:
		p.now *= 2
	}
	p.now = min(max(p.now, p.least), p.most)
	p.wait, p.begun = 0, false
}

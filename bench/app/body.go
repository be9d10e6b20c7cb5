package app

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Names of what the run makes.
const (
	Queue       = "app"
	SecondQueue = "app_second"
	SecondGroup = "second"
)

// Group is the name of the i-th group, from 0.
func Group(i int) string { return "g" + strconv.Itoa(i) }

// bytesMin has room for everything of a Body but its filling.
const bytesMin = 96

// Body is a payload.
type Body struct {
	At      int64  `json:"at"`               // nanoseconds since 1970: when it was to be sent
	Session int    `json:"session"`          // whose key it has
	Seq     int64  `json:"seq"`              // from 0, within the session and the queue
	Origin  int64  `json:"origin,omitempty"` // in the second queue: the seq of the message that was forwarded
	Filling string `json:"filling"`
}

// Key is that of a session.
func Key(session int) string { return "s" + strconv.Itoa(session) }

// Chance decides about one message or delivery, the same in every run with the same seed.
type Chance struct {
	seed uint64
	o    *Options
}

// NewChance returns the chance of a run.
func NewChance(o *Options) Chance { return Chance{seed: o.Seed, o: o} }

// What is decided.
const (
	poison = iota
	slow
	forward
	fail
	work
)

// draw returns a source that depends on everything it is given.
func (c Chance) draw(what, group, session int, seq int64, attempt int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed<<32^uint64(what)<<24^uint64(group)<<16^uint64(attempt),
		uint64(session)<<40^uint64(seq)))
}

func hits(r *rand.Rand, percent float64) bool { return r.Float64()*100 < percent }

// Poison reports whether all deliveries of a message fail.
func (c Chance) Poison(session int, seq int64) bool {
	return hits(c.draw(poison, 0, session, seq, 0), c.o.PoisonPercent)
}

// Fails reports whether a delivery fails.
func (c Chance) Fails(group, session int, seq int64, attempt int) bool {
	return c.Poison(session, seq) || hits(c.draw(fail, group, session, seq, attempt), c.o.FailPercent)
}

// Forwards reports whether a message of a group is acked and sent on in one transaction.
func (c Chance) Forwards(group, session int, seq int64) bool {
	return group == 0 && hits(c.draw(forward, 0, session, seq, 0), c.o.ForwardPercent)
}

// Work is how long a handler takes.
func (c Chance) Work(group, session int, seq int64, attempt int) time.Duration {
	if hits(c.draw(slow, 0, session, seq, 0), c.o.SlowPercent) {
		return max(c.o.Work, c.o.SlowWork)
	}
	vary := 1 + c.o.Jitter*(2*c.draw(work, group, session, seq, attempt).Float64()-1)
	return time.Duration(float64(c.o.Work) * vary)
}

// NewBody returns a payload whose JSON text has about so many bytes; letters are repeated where they do not suffice.
func NewBody(at time.Time, session int, seq int64, letters string, bytes int) Body {
	n := max(0, bytes-bytesMin)
	for len(letters) < n {
		letters += letters
	}
	return Body{At: at.UnixNano(), Session: session, Seq: seq, Filling: letters[:n]}
}

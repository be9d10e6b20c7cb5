package app

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Fault is a way in which a delivery can be wrong.
type Fault string

// The faults that the checker finds while messages are delivered.
const (
	Invented  Fault = "invented"    // was never sent
	Overtaken Fault = "overtaken"   // came before one ahead of it in its key was done or dead
	TwoAtOnce Fault = "two_at_once" // came while a message of its key was being worked on
	Repeated  Fault = "repeated"    // came for the first time a second time
	Stale     Fault = "stale"       // came again with an attempt that is not above the one before
	Undead    Fault = "undead"      // came again after its last attempt had failed
)

// maxExamples is how many faults are told in words.
const maxExamples = 20

// Stream is what is sent to one queue: of each session the numbers 0, 1, 2 and so on.
type Stream struct {
	announced []atomic.Int64 // by session: numbers below it may be delivered
}

// NewStream returns the stream of a queue.
func NewStream(sessions int) *Stream { return &Stream{announced: make([]atomic.Int64, sessions)} }

// Announce notes, before it is sent, that a session goes on by n messages, and returns the first one's number. One
// goroutine at a time does so for a session.
func (s *Stream) Announce(session, n int) int64 { return s.announced[session].Add(int64(n)) - int64(n) }

// Withdraw takes back an Announce of what was certainly not sent.
func (s *Stream) Withdraw(session, n int) { s.announced[session].Add(-int64(n)) }

// Lengths returns how many messages each session was sent.
func (s *Stream) Lengths() []int64 {
	lengths := make([]int64, len(s.announced))
	for i := range s.announced {
		lengths[i] = s.announced[i].Load()
	}
	return lengths
}

// Place is a message of a stream.
type Place struct {
	Session int   `json:"session"`
	Seq     int64 `json:"seq"`
}

// Checker sees every delivery of one group and says what is wrong with it. A message may be delivered again when it was
// not acked in time, and of a key nothing may be skipped: the message that is due is the first that is neither done nor
// dead.
type Checker struct {
	group  string
	stream *Stream
	lines  []line

	deliveries, again, failed, done, dead atomic.Int64

	last atomic.Int64 // the last attempt, once calls may have been lost

	mu       sync.Mutex
	faults   map[Fault]int64
	examples []string
	letters  []Place
	skipped  []Place
	lastDone []Place
}

// line is how far a session's messages have come in a group.
type line struct {
	mu      sync.Mutex
	next    int64          // the first message that is neither done nor dead
	running bool           // it is being worked on
	acking  bool           // and its handler acks it, so that the next may come before the handler has ended
	attempt int            // its last
	owed    map[int64]bool // those that the next came before so, and whose handlers must end well
	dead    map[int64]bool // those that are
}

// NewChecker returns the checker of a group of a stream's queue.
func NewChecker(group string, s *Stream) *Checker {
	return &Checker{group: group, stream: s, lines: make([]line, len(s.announced)), faults: map[Fault]int64{}}
}

// Shaken notes that from now on calls may be lost, because the database went away: a receive's answer, or an ack until
// its lease has ended. So a message may come again while it is still being worked on, and one may die of deliveries
// that no handler saw. What is taken for that is told by Finding, to be held against the dead letters. A message has so
// many attempts.
func (c *Checker) Shaken(attempts int) { c.last.Store(int64(attempts)) }

// Begin sees a delivery when its handler begins. It returns false when the message was done before, which is no fault
// of a queue that delivers at least once, or when it is at fault: then End must not be called for it.
func (c *Checker) Begin(p Place, attempt int) bool {
	c.deliveries.Add(1)
	if p.Session < 0 || p.Session >= len(c.lines) || p.Seq < 0 || p.Seq >= c.stream.announced[p.Session].Load() {
		c.fault(Invented, p, attempt, "")
		return false
	}
	l := &c.lines[p.Session]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running && l.acking && p.Seq == l.next+1 {
		if l.owed == nil {
			l.owed = map[int64]bool{}
		}
		l.owed[l.next] = true
		l.next, l.attempt, l.running = p.Seq, 0, false
	}
	if c.last.Load() > 0 {
		c.forgive(l, p, attempt)
	}
	switch {
	case p.Seq < l.next:
		c.late(l, p, attempt)
		return false
	case p.Seq > l.next:
		c.fault(Overtaken, p, attempt, fmt.Sprintf("%d is due", l.next))
		return false
	case l.running:
		c.fault(TwoAtOnce, p, attempt, "")
		return false
	case attempt <= l.attempt:
		c.fault(Stale, p, attempt, fmt.Sprintf("the last was attempt %d", l.attempt))
		return false
	}
	if attempt > 1 {
		c.again.Add(1)
	}
	l.running, l.acking, l.attempt = true, false, attempt
	return true
}

// forgive takes what lost calls explain for that: a handler has no message any more that came again, or that a later
// one of its key follows; and what was skipped is dead.
func (c *Checker) forgive(l *line, p Place, attempt int) {
	if l.running && (p.Seq > l.next || p.Seq == l.next && attempt > l.attempt) {
		l.running = false
	}
	for l.next < p.Seq {
		skipped := Place{p.Session, l.next}
		c.bury(l, skipped)
		c.mu.Lock()
		c.skipped = append(c.skipped, skipped)
		c.mu.Unlock()
		l.next, l.attempt = l.next+1, 0
	}
}

// bury notes that a message is dead.
func (c *Checker) bury(l *line, p Place) {
	c.dead.Add(1)
	if l.dead == nil {
		l.dead = map[int64]bool{}
	}
	l.dead[p.Seq] = true
}

// Acking sees that the handler of an attempt, whose Begin was true, is about to ack its message: when that is done the
// next message may come, and the handler only learns of it a moment later.
func (c *Checker) Acking(p Place, attempt int) {
	l := &c.lines[p.Session]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acking = l.acking || l.has(p, attempt)
}

// has reports whether an attempt at a message is the one that is being worked on.
func (l *line) has(p Place, attempt int) bool {
	return l.running && l.next == p.Seq && l.attempt == attempt
}

// late is a message that was done or dead already.
func (c *Checker) late(l *line, p Place, attempt int) {
	switch {
	case l.dead[p.Seq]:
		c.fault(Undead, p, attempt, "")
	case attempt <= 1:
		c.fault(Repeated, p, attempt, fmt.Sprintf("%d is due", l.next))
	default:
		c.again.Add(1)
	}
}

// Result is how a handler ended.
type Result int

// The results of a handler.
const (
	Done   Result = iota // the message is finished
	Failed               // it comes again
	Dead                 // it failed for the last time
)

// End sees how the handler of an attempt ended whose Begin was true.
func (c *Checker) End(p Place, attempt int, r Result) {
	l := &c.lines[p.Session]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owed[p.Seq] {
		delete(l.owed, p.Seq)
		if r == Done {
			c.done.Add(1)
		} else {
			c.fault(Overtaken, Place{p.Session, p.Seq + 1}, 1, fmt.Sprintf("the ack of %d has failed", p.Seq))
		}
		return
	}
	if !l.has(p, attempt) {
		return // it came again meanwhile, or is dead: what its handler says is refused
	}
	l.running = false
	switch r {
	case Failed:
		c.failed.Add(1)
		return
	case Dead:
		c.bury(l, p)
		c.mu.Lock()
		c.letters = append(c.letters, p)
		c.mu.Unlock()
	case Done:
		c.done.Add(1)
		if last := c.last.Load(); last > 0 && int64(attempt) >= last {
			c.mu.Lock()
			c.lastDone = append(c.lastDone, p)
			c.mu.Unlock()
		}
	}
	l.next, l.attempt = p.Seq+1, 0
}

func (c *Checker) fault(f Fault, p Place, attempt int, more string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[f]++
	if len(c.examples) < maxExamples {
		text := fmt.Sprintf("%s: group %s, session %d, message %d, attempt %d", f, c.group, p.Session, p.Seq, attempt)
		if more != "" {
			text += "; " + more
		}
		c.examples = append(c.examples, text)
	}
}

// GroupCounts is what was seen of a group so far.
type GroupCounts struct {
	Deliveries int64 `json:"deliveries"` // handlers that began
	Again      int64 `json:"again"`      // of those, after the first
	Failed     int64 `json:"failed"`     // handlers that failed, and whose message comes again
	Done       int64 `json:"done"`       // messages finished
	Dead       int64 `json:"dead"`       // messages that failed for the last time
	Faults     int64 `json:"faults"`
}

// Counts returns what was seen so far.
func (c *Checker) Counts() GroupCounts {
	n := GroupCounts{
		Deliveries: c.deliveries.Load(), Again: c.again.Load(), Failed: c.failed.Load(), Done: c.done.Load(),
		Dead: c.dead.Load(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.faults {
		n.Faults += v
	}
	return n
}

// Finding is what a checker has found in a whole run.
type Finding struct {
	GroupCounts

	Group    string          `json:"group"`
	Missing  int64           `json:"missing"` // sent, and neither done nor dead
	ByFault  map[Fault]int64 `json:"by_fault,omitempty"`
	Examples []string        `json:"examples,omitempty"`
	Letters  []Place         `json:"letters,omitempty"` // those that are dead

	Skipped  []Place `json:"skipped,omitempty"`   // dead, too, of deliveries that were lost, or else overtaken
	LastDone []Place `json:"last_done,omitempty"` // done at the last attempt, and dead if its ack was lost
}

// Finding returns what was found, when nothing is delivered any more.
func (c *Checker) Finding() Finding {
	f := Finding{
		GroupCounts: c.Counts(), Group: c.group, ByFault: c.faults, Examples: c.examples, Letters: c.letters,
		Skipped: c.skipped, LastDone: c.lastDone,
	}
	for i := range c.lines {
		f.Missing += c.stream.announced[i].Load() - c.lines[i].next + int64(len(c.lines[i].owed))
	}
	return f
}

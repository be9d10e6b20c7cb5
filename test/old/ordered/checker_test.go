package ordered_test

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// delivery is one message as its consumer sees it: the seq-th of its key.
type delivery struct {
	key   string
	seq   int
	id    int64
	claim int64
}

// state is how far a message is. While somebody's attempt to finish it has not been answered, it may be finished: an
// attempt that comes too late is refused in the same moment in which another's succeeds.
type state struct {
	attempts int
	done     bool
}

// open tells that the message is certainly not finished.
func (s state) open() bool {
	return !s.done && s.attempts == 0
}

// checker sees every delivery and every end of a message, and notes each breach of the order.
type checker struct {
	mu       sync.Mutex
	sent     map[string]int                  // key -> messages committed
	state    map[string]map[int]state        // key -> seq -> how far it is
	held     map[string]map[string]time.Time // key -> consumer -> until when it may work at it
	breaches []string
	finished int
}

func newChecker() *checker {
	return &checker{
		sent: map[string]int{}, state: map[string]map[int]state{}, held: map[string]map[string]time.Time{},
	}
}

// committed notes that a producer's transaction with messages up to these seqs is committed.
func (c *checker) committed(upTo map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, seq := range upTo {
		c.sent[key] = seq
	}
}

// delivered checks what one receive returned: of each key the first that is not done, and what follows it without a
// gap; and no key that another consumer holds. Until is when its lease ends at the earliest. After that, as when the
// machine held up the answer, it says nothing about who has the messages now: delivered returns false.
func (c *checker) delivered(consumer string, got []delivery, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(until) {
		return false
	}
	for i, d := range got {
		if i == 0 || !slices.ContainsFunc(got[:i], func(e delivery) bool { return e.key == d.key }) {
			c.hold(consumer, d, until)
		}
		for seq := 1; seq < d.seq; seq++ {
			before := func(e delivery) bool { return e.key == d.key && e.seq == seq }
			if c.state[d.key][seq].open() && !slices.ContainsFunc(got[:i], before) {
				c.breach("%s got %v before %d", consumer, d, seq)
			}
		}
		if c.state[d.key][d.seq].done {
			c.breach("%s got %v, which is done", consumer, d)
		}
	}
	return true
}

// hold notes that a consumer may work at a key, which no other may at the same time.
func (c *checker) hold(consumer string, d delivery, until time.Time) {
	for other, end := range c.held[d.key] {
		if other != consumer && end.After(time.Now()) {
			c.breach("%s got %v, which %s holds", consumer, d, other)
		}
	}
	if c.held[d.key] == nil {
		c.held[d.key] = map[string]time.Time{}
	}
	c.held[d.key][consumer] = until
}

// ending notes that a consumer is about to finish a message.
func (c *checker) ending(d delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state[d.key] == nil {
		c.state[d.key] = map[int]state{}
	}
	s := c.state[d.key][d.seq]
	s.attempts++
	c.state[d.key][d.seq] = s
}

// ended notes what the engine said.
func (c *checker) ended(d delivery, agreed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state[d.key][d.seq]
	s.attempts--
	if agreed && !s.done {
		s.done = true
		c.finished++
	}
	c.state[d.key][d.seq] = s
}

// release notes that a consumer is about to give a key back.
func (c *checker) release(consumer, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held[key], consumer)
}

func (c *checker) breach(format string, args ...any) {
	if len(c.breaches) < 10 {
		c.breaches = append(c.breaches, fmt.Sprintf(format, args...))
	}
}

// owed returns how many committed messages are not finished.
func (c *checker) owed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, n := range c.sent {
		total += n
	}
	return total - c.finished
}

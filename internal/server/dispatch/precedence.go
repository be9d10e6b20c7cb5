package dispatch

import (
	"sync"
	"time"
)

// A send waits for at most so many calls of consumers, and for no longer than this.
const (
	yieldCalls = 8
	yieldMax   = 50 * time.Millisecond
)

// precedence lets the calls of consumers go before those of producers of the same queue. A consumer needs two calls for
// a message and a producer one, so that where both work as fast as they can, a queue would otherwise grow without
// end. A consumer that is busy with a message, or waits for one, makes no calls and delays nobody.
type precedence struct {
	mu    sync.Mutex
	calls map[string]*underway
}

// underway are the consumers' calls for a queue.
type underway struct {
	n     int
	ended chan struct{} // closed and made anew when one ends
}

// enter notes a consumer's call and returns what notes its end.
func (p *precedence) enter(queue string) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.calls[queue]
	if u == nil {
		u = &underway{ended: make(chan struct{})}
		p.calls[queue] = u
	}
	u.n++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(u.ended)
		u.ended = make(chan struct{})
		if u.n--; u.n == 0 {
			delete(p.calls, queue)
		}
	}
}

// yield waits until no consumer's call is under way, but not for long.
func (p *precedence) yield(queue string) { p.wait(queue, yieldCalls) }

// next waits for the end of a call that is under way, but not for long.
func (p *precedence) next(queue string) { p.wait(queue, 1) }

// wait waits until no call is under way, or so many have ended, or the time is over.
func (p *precedence) wait(queue string, calls int) {
	timer := time.NewTimer(yieldMax)
	defer timer.Stop()
	for range calls {
		ended := p.nextEnd(queue)
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-timer.C:
			return
		}
	}
}

// nextEnd returns what the next end of a consumer's call closes; nil when none is under way.
func (p *precedence) nextEnd(queue string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u := p.calls[queue]; u != nil {
		return u.ended
	}
	return nil
}

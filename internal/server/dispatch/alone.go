package dispatch

import (
	"context"
	"sync"
)

// alone bounds the calls that no other request shares, queue by queue, so that those of one queue, which may all wait
// for one lock, leave connections for others.
type alone struct {
	connections func() int // of the server

	mu     sync.Mutex
	queues map[string]*turns
}

// turns are those of one queue. They are there while anybody has one or waits for one.
type turns struct {
	free  chan struct{} // holds one for each turn that is taken
	users int
}

// Alone waits for the turn of a call of its own, and returns what ends it. It fails with ErrBusy when too many wait for
// theirs, and with the context's error.
func (d *Dispatcher) Alone(ctx context.Context, queue string) (leave func(), err error) {
	return d.alone.enter(ctx, queue)
}

func (a *alone) enter(ctx context.Context, queue string) (leave func(), err error) {
	a.mu.Lock()
	t := a.queues[queue]
	if t == nil {
		t = &turns{free: make(chan struct{}, max(1, a.connections()/2))}
		a.queues[queue] = t
	}
	if t.users >= LineMax {
		a.mu.Unlock()
		return nil, ErrBusy
	}
	t.users++
	a.mu.Unlock()
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free; a.forget(queue, t) }, nil
	case <-ctx.Done():
		a.forget(queue, t)
		return nil, context.Cause(ctx)
	}
}

func (a *alone) forget(queue string, t *turns) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(a.queues, queue)
	}
}

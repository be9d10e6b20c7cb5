package weir

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// What is put into one call at most, unless one caller's part is larger.
const (
	coalescedMax      = 1000
	coalescedBytesMax = 1 << 20
)

// share has the concurrent calls of a client share statements, if it has a pool that gives every call the same
// connections. Over HTTP the server does that.
func (c *Client) share(p *postgres) {
	if !p.pooled() {
		return
	}
	c.sends = newCoalescer(func(ctx context.Context, to aim, batch []jsonMessage) ([]int64, error) {
		return p.send(ctx, to.queue, batch, sendOptions{delay: to.delay.pointer(), priority: to.priority.pointer()})
	})
	c.enqueues = newCoalescer(func(ctx context.Context, to aim, batch []jsonJob) ([]int64, error) {
		return p.enqueuePlain(ctx, to.queue, batch, jobOptions{
			delay: to.delay.pointer(), priority: to.priority.pointer(), tracked: to.tracked,
		})
	})
}

// pooled reports whether statements that run at the same time have connections of their own, whoever's they are: a
// statement runs with the context of one of its calls, by which some pools choose a connection, or its role.
func (p *postgres) pooled() bool {
	if x, ok := p.executor.(sqlExecutor); ok {
		_, ok = x.SQLQuerier.(*sql.DB)
		return ok
	}
	if p.ear == nil {
		return false
	}
	cfg := p.ear.pool.Config()
	return cfg.PrepareConn == nil && cfg.BeforeAcquire == nil //nolint:staticcheck // it is deprecated, and works
}

// aim is what the messages of a call have in common.
type aim struct {
	queue    string
	delay    optional[time.Duration]
	priority optional[int]
	tracked  bool // jobs
}

// optional is a pointer's value, which can be compared.
type optional[T any] struct {
	value T
	given bool
}

func optionalOf[T any](p *T) optional[T] {
	if p == nil {
		return optional[T]{}
	}
	return optional[T]{value: *p, given: true}
}

func (o optional[T]) pointer() *T {
	if !o.given {
		return nil
	}
	return &o.value
}

// coalescer puts messages, or jobs, that have the same aim into common calls, one at a time: two at a time are twice as
// many, of half as much.
type coalescer[I any] struct {
	call func(ctx context.Context, to aim, batch []I) ([]int64, error)

	mu    sync.Mutex
	lines map[aim][]*part[I] // there while a call is under way: what waits for the next
}

// part is one caller's part of a call.
type part[I any] struct {
	ctx    context.Context
	items  []I
	bytes  int
	shared *shared       // nil while it waits
	done   chan struct{} // closed when ids or err is there
	ids    []int64
	err    error
}

// shared is a call while its callers wait for it. It ends when the last of them has left.
type shared struct {
	callers int
	end     context.CancelFunc
}

func newCoalescer[I any](call func(context.Context, aim, []I) ([]int64, error)) *coalescer[I] {
	return &coalescer[I]{call: call, lines: map[aim][]*part[I]{}}
}

// send sends items of so many bytes and returns their ids.
func (c *coalescer[I]) send(ctx context.Context, to aim, items []I, bytes int) ([]int64, error) {
	if len(items) >= coalescedMax || bytes >= coalescedBytesMax {
		return c.call(ctx, to, items)
	}
	p := c.join(ctx, to, items, bytes)
	if p == nil {
		defer c.proceed(to)
		return c.call(ctx, to, items)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		c.leave(to, p)
		return nil, wrap("send messages", ctx.Err())
	}
	if errors.Is(p.err, errSendAlone) {
		return c.call(ctx, to, items)
	}
	return p.ids, p.err
}

// join puts items into the line; nil when their caller is to make a call at once, and to call proceed after it.
func (c *coalescer[I]) join(ctx context.Context, to aim, items []I, bytes int) *part[I] {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, running := c.lines[to]
	if !running {
		c.lines[to] = nil
		return nil
	}
	p := &part[I]{ctx: ctx, items: items, bytes: bytes, done: make(chan struct{})}
	c.lines[to] = append(line, p)
	return p
}

// leave is for a caller who waits no longer.
func (c *coalescer[I]) leave(to aim, p *part[I]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.shared != nil {
		p.shared.left()
		return
	}
	if line, running := c.lines[to]; running {
		c.lines[to] = slices.DeleteFunc(line, func(other *part[I]) bool { return other == p })
	}
}

// left notes that a caller waits no longer. The coalescer's lock is held.
func (s *shared) left() {
	if s.callers--; s.callers == 0 {
		s.end()
	}
}

// proceed has what came during a call go out, in the background.
func (c *coalescer[I]) proceed(to aim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines[to]) == 0 {
		delete(c.lines, to)
		return
	}
	go c.run(to)
}

// run makes calls for a line until nobody waits in it.
func (c *coalescer[I]) run(to aim) {
	for {
		runtime.Gosched() // those who were just answered may be about to send more
		ctx, batch := c.take(to)
		if len(batch) == 0 {
			return
		}
		c.share(ctx, to, batch)
	}
}

// take takes what goes into the next call out of the line, without what nobody waits for any longer. The call's context
// has the values of its first caller's, and ends when all its callers have left.
func (c *coalescer[I]) take(to aim) (context.Context, []*part[I]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := slices.DeleteFunc(c.lines[to], func(p *part[I]) bool { return p.ctx.Err() != nil })
	n, items, bytes := 0, 0, 0
	for ; n < len(line); n++ {
		items, bytes = items+len(line[n].items), bytes+line[n].bytes
		if n > 0 && (items > coalescedMax || bytes > coalescedBytesMax) {
			break
		}
	}
	if n == 0 {
		delete(c.lines, to)
		return nil, nil
	}
	batch := slices.Clone(line[:n])
	c.lines[to] = slices.Delete(line, 0, n)
	ctx, end := context.WithCancel(context.WithoutCancel(batch[0].ctx))
	s := &shared{callers: n, end: end}
	for _, p := range batch {
		p.shared = s
	}
	return ctx, batch
}

// share makes one call for several callers and tells them what became of it.
func (c *coalescer[I]) share(ctx context.Context, to aim, batch []*part[I]) {
	var items []I
	for _, p := range batch {
		items = append(items, p.items...)
	}
	ids, err := c.call(ctx, to, items)
	batch[0].shared.end()
	if err == nil && len(ids) != len(items) {
		err = fmt.Errorf("send messages: %w: %d ids for %d messages", errBadAnswer, len(ids), len(items))
	}
	if len(batch) > 1 && reported(err) {
		err = errSendAlone
	}
	for _, p := range batch {
		if p.err = err; err == nil {
			p.ids, ids = ids[:len(p.items):len(p.items)], ids[len(p.items):]
		}
		close(p.done)
	}
}

// reported reports whether the database itself said no, so that nothing was done.
func reported(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.reported
}

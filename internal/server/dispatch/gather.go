package dispatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// callTimeout bounds a call of the engine, which no client's going away ends.
	callTimeout = 30 * time.Second
	// batchItems and batchBytes bound what is put into one call, unless a single request is larger.
	batchItems = 1000
	batchBytes = 1 << 20
	// waitingMax bounds the requests of one kind that wait for a call.
	waitingMax = 10_000
	// LineMax bounds those of them that have the same aim, so that a queue whose calls hang leaves room for others.
	LineMax = waitingMax / 4
)

// request is one client's part of a call.
type request[I, O any] struct {
	in    I
	items int
	bytes int
	out   O
	err   error
	done  chan struct{} // closed when out or err is there
}

func (r *request[I, O]) answer(out O, err error) {
	r.out, r.err = out, err
	close(r.done)
}

// gatherer puts the requests of one kind that have the same aim, such as a queue, into common calls.
type gatherer[K comparable, I, O any] struct {
	call    func(ctx context.Context, aim K, batch []*request[I, O]) // answers all of them
	before  func(aim K) (after func())                               // runs around each call
	waiting atomic.Int64
	counts  counts

	mu    sync.Mutex
	lines map[K][]*request[I, O] // there while a goroutine makes calls for them
	ended sync.WaitGroup
}

func newGatherer[K comparable, I, O any](
	before func(K) func(), call func(context.Context, K, []*request[I, O]),
) *gatherer[K, I, O] {
	return &gatherer[K, I, O]{call: call, before: before, lines: map[K][]*request[I, O]{}}
}

// do has a request carried out and returns its answer.
func (g *gatherer[K, I, O]) do(aim K, in I, items, bytes int) (O, error) {
	r := &request[I, O]{in: in, items: items, bytes: bytes, done: make(chan struct{})}
	g.mu.Lock()
	line, running := g.lines[aim]
	if g.waiting.Load() >= waitingMax || len(line) >= LineMax {
		g.mu.Unlock()
		return r.out, ErrBusy
	}
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	g.lines[aim] = append(line, r)
	if !running {
		g.ended.Go(func() { g.run(aim) })
	}
	g.mu.Unlock()
	<-r.done
	return r.out, r.err
}

// run makes calls for a aim until nothing waits.
func (g *gatherer[K, I, O]) run(aim K) {
	for g.once(aim) {
	}
}

// once makes one call for what waits, and reports whether anything did.
func (g *gatherer[K, I, O]) once(aim K) bool {
	defer g.before(aim)()
	g.mu.Lock()
	batch := g.next(aim)
	if len(batch) == 0 {
		delete(g.lines, aim)
	}
	g.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	g.counts.add(len(batch))
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	g.call(ctx, aim, batch)
	return true
}

// take takes what waits for the next call, for somebody who will answer it.
func (g *gatherer[K, I, O]) take(aim K) []*request[I, O] {
	g.mu.Lock()
	defer g.mu.Unlock()
	batch := g.next(aim)
	if len(batch) > 0 {
		g.counts.add(len(batch))
	}
	return batch
}

// next takes what goes into the next call out of the line. The lock is held.
func (g *gatherer[K, I, O]) next(aim K) []*request[I, O] {
	line := g.lines[aim]
	n, items, bytes := 0, 0, 0
	for n < len(line) {
		items, bytes = items+line[n].items, bytes+line[n].bytes
		if n > 0 && (items > batchItems || bytes > batchBytes) {
			break
		}
		n++
	}
	if n == 0 {
		return nil
	}
	g.lines[aim] = line[n:]
	if n == len(line) {
		g.lines[aim] = nil // what the batch refers to can be freed with it
	}
	return line[:n:n]
}

// counts are CallStats that are being counted.
type counts struct {
	requests, calls atomic.Int64
}

func (c *counts) add(requests int) {
	c.requests.Add(int64(requests))
	c.calls.Add(1)
}

func (c *counts) read() CallStats {
	return CallStats{Requests: c.requests.Load(), Calls: c.calls.Load()}
}

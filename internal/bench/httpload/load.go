package httpload

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// tail is how long the consumers have for what is left when the producers are done, at most.
const tail = time.Minute

// Load says what to do.
type Load struct {
	Address   string // host:port of the server
	Queue     string
	Producers int
	Consumers int
	Batch     int
	Duration  time.Duration
	// Rate, when above 0, is how many batches a second are planned, whether or not the server keeps up: the time of
	// a message begins when it was planned. At 0 each producer sends as soon as it has the answer to the send before.
	Rate int
	// PayloadBytes pads the payloads to about this size.
	PayloadBytes int
}

// Result is what happened.
type Result struct {
	Sent       int64         // messages
	Cycled     int64         // messages received and acknowledged while the producers were at work
	Received   int64         // in all
	Lost       int64         // sent and never received
	Duplicated int64         // received again
	Elapsed    time.Duration // of the producers
	Times      []int64       // from each send, or its plan, to the answer of the receive, in nanoseconds
}

// run is a load under way.
type run struct {
	Load

	start     time.Time
	ended     atomic.Bool // the producers' time is over
	cancel    context.CancelFunc
	next      atomic.Int64 // number of the next message
	planned   atomic.Int64 // number of the next batch
	sent      atomic.Int64
	received  atomic.Int64
	cycled    atomic.Int64
	mu        sync.Mutex
	seen      []int64
	times     []int64
	firstErr  error
	producing sync.WaitGroup
	consuming sync.WaitGroup
}

// Run carries a load out.
func Run(ctx context.Context, l Load) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Duration+tail)
	defer cancel()
	r := &run{Load: l, cancel: cancel}
	r.start = time.Now()
	for range l.Consumers {
		r.consuming.Go(func() { r.note(r.with(ctx, r.consume)) })
	}
	for range l.Producers {
		r.producing.Go(func() { r.note(r.with(ctx, r.produce)) })
	}
	r.producing.Wait()
	elapsed := time.Since(r.start)
	r.ended.Store(true)
	r.consuming.Wait()
	slices.Sort(r.seen)
	unique := int64(len(slices.Compact(r.seen)))
	return Result{
		Sent: r.sent.Load(), Cycled: r.cycled.Load(), Received: r.received.Load(), Lost: r.sent.Load() - unique,
		Duplicated: r.received.Load() - unique, Elapsed: elapsed, Times: r.times,
	}, r.firstErr
}

// note keeps the first error and ends the load.
func (r *run) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.firstErr == nil {
		r.firstErr = err
		r.cancel()
	}
}

// with runs one client with a connection that ends with ctx.
func (r *run) with(ctx context.Context, do func(context.Context, *Conn) error) error {
	c, err := Dial(ctx, r.Address)
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	err = do(ctx, c)
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case r.ended.Load():
		return nil // the tail is over; what is missing counts as lost
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err) // the connection was closed for that
}

// produce sends batches until the time is over.
func (r *run) produce(ctx context.Context, c *Conn) error {
	path := "/v1/queues/" + r.Queue + "/messages"
	var body []byte
	pad := make([]byte, max(0, r.PayloadBytes-len(`{"at":1234567890123,"seq":1234567,"pad":""}`)))
	for i := range pad {
		pad[i] = 'a' + byte(i*7%26)
	}
	for ctx.Err() == nil {
		at := time.Since(r.start)
		if r.Rate > 0 {
			at = time.Duration(r.planned.Add(1)-1) * time.Second / time.Duration(r.Rate)
		}
		if at >= r.Duration {
			return nil
		}
		pause(at - time.Since(r.start))
		first := r.next.Add(int64(r.Batch)) - int64(r.Batch)
		body = append(body[:0], `{"messages":[`...)
		for i := range r.Batch {
			if i > 0 {
				body = append(body, ',')
			}
			body = fmt.Appendf(body, `{"payload":{"at":%d,"seq":%d,"pad":"%s"}}`, at.Nanoseconds(), first+int64(i), pad)
		}
		body = append(body, `]}`...)
		if _, err := c.Post(path, body); err != nil {
			return err
		}
		r.sent.Add(int64(r.Batch))
	}
	return nil
}

// consume receives and acknowledges until the producers are done and nothing is left.
func (r *run) consume(_ context.Context, c *Conn) error {
	group := "/v1/queues/" + r.Queue + "/groups/default"
	want := fmt.Appendf(nil, `{"max":%d,"wait_ms":500}`, r.Batch)
	var seen, times, ats, seqs, claims []int64
	var body []byte
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, seen...)
		r.times = append(r.times, times...)
	}()
	for !r.ended.Load() || r.received.Load() < r.sent.Load() {
		answer, err := c.Post(group+"/receive", want)
		if err != nil {
			return err
		}
		now := time.Since(r.start).Nanoseconds()
		ats = Numbers(ats[:0], answer, []byte(`"at"`))
		seqs = Numbers(seqs[:0], answer, []byte(`"seq"`))
		claims = slices.Compact(Numbers(claims[:0], answer, []byte(`"claim_id"`)))
		if len(claims) == 0 {
			continue
		}
		for _, at := range ats {
			times = append(times, now-at)
		}
		seen = append(seen, seqs...)
		r.received.Add(int64(len(seqs)))
		body = append(body[:0], `{"acks":[`...)
		for i, claim := range claims {
			if i > 0 {
				body = append(body, ',')
			}
			body = fmt.Appendf(body, `{"claim_id":%d,"all":true}`, claim)
		}
		if _, err := c.Post(group+"/ack", append(body, `]}`...)); err != nil {
			return err
		}
		if !r.ended.Load() {
			r.cycled.Add(int64(len(seqs)))
		}
	}
	return nil
}

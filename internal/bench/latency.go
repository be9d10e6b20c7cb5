package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	pollEvery    = time.Millisecond
	latencyTail  = time.Minute // how long after the last send the consumer waits for the rest, at most
	latencyBatch = 100
)

func latencyMetrics() []metric {
	return []metric{
		{"p50", "end to end p50", "ms", "%.2f", "<= 3"},
		{"p99", "end to end p99", "ms", "%.2f", ""},
		{"max", "end to end max", "ms", "%.2f", ""},
		{"send_p50", "send p50", "ms", "%.2f", ""},
		{"messages", "messages", "", "%.0f", ""},
		{"lost", "lost", "messages", "%.0f", "<= 0"},
	}
}

// quantile returns the milliseconds under which a part of some times in nanoseconds stay, which it sorts.
func quantile(times []int64, part float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[min(len(times)-1, int(part*float64(len(times))))]) / 1e6
}

// stamped is the payload of the latency's messages: when the send began, by the driver's own clock.
type stamped struct {
	At int64 `json:"at"` // nanoseconds since the run began
}

// latencyCase sends at a steady rate to a consumer that polls, and takes the time from before the send to after the
// receive that returned the message.
func latencyCase(ctx context.Context, r *runner) (values, error) {
	return r.inScratch(ctx, func(s *scratch) (_ values, err error) {
		ends, closeAll, err := s.clients(ctx, 2)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, closeAll()) }()
		for range callsWarmup { // statements are planned before anything counts
			if err := warmUp(ctx, ends[0], ends[1]); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		total := int(r.opts.Duration.Seconds() * float64(r.opts.Rate))
		var sends, arrivals []int64
		// The consumer may have the last message before the producer has its answer: neither ends the other.
		both, running := errgroup.WithContext(ctx)
		both.Go(func() (err error) {
			sends, err = produce(running, ends[0], start, total)
			return err
		})
		both.Go(func() (err error) {
			arrivals, err = consumeStamped(running, ends[1], start, total)
			return err
		})
		if err := both.Wait(); err != nil {
			return nil, err
		}
		return values{
			"p50": quantile(arrivals, 0.5), "p99": quantile(arrivals, 0.99), "max": quantile(arrivals, 1),
			"send_p50": quantile(sends, 0.5), "messages": float64(len(arrivals)), "lost": float64(total - len(arrivals)),
		}, nil
	})
}

func warmUp(ctx context.Context, producer, consumer *client) error {
	if err := producer.send(ctx, `{"at":0}`); err != nil {
		return err
	}
	got, err := consumer.receiveOne(ctx)
	if err != nil {
		return err
	}
	return consumer.ack(ctx, got.claim)
}

// produce sends at a steady rate and returns what the sends took. One that was late is sent at once and its time begins
// when it was due, so that a slow one does not hide the wait of those behind it.
func produce(ctx context.Context, c *client, start time.Time, total int) (times []int64, err error) {
	for i := range total {
		due := time.Duration(i) * time.Second / time.Duration(c.opts.Rate)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(due - time.Since(start)):
		}
		began := time.Now()
		if err := c.send(ctx, fmt.Sprintf(`{"at":%d}`, due.Nanoseconds())); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began).Nanoseconds())
	}
	return times, nil
}

// consumeStamped polls until it has all messages or its time is over, and returns how long each was under way.
func consumeStamped(ctx context.Context, c *client, start time.Time, total int) (times []int64, err error) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for len(times) < total && time.Since(start) < c.opts.Duration+latencyTail {
		got, err := c.receive(ctx, latencyBatch)
		now := time.Since(start).Nanoseconds()
		if err != nil {
			return nil, err
		}
		for _, d := range got {
			var s stamped
			if err := json.Unmarshal(d.payload, &s); err != nil {
				return nil, fmt.Errorf("decode payload: %w", err)
			}
			times = append(times, now-s.At)
		}
		if len(got) > 0 {
			if err := c.ack(ctx, got[0].claim); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
	return times, nil
}

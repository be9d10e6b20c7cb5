package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
)

const (
	pollEvery    = time.Millisecond
	latencyTail  = time.Minute // how long after the last send the consumer waits for the rest, at most
	latencyBatch = 100
)

func latencyMetrics() []metric {
	return []metric{
		{"p50", "end to end p50", "ms", "%.2f", atMost(3)},
		{"p99", "end to end p99", "ms", "%.2f", nil},
		{"max", "end to end max", "ms", "%.2f", nil},
		{"send_p50", "send p50", "ms", "%.2f", nil},
		{"messages", "messages", "", "%.0f", nil},
		{"lost", "lost", "messages", "%.0f", atMost(0)},
	}
}

// stamped is the payload of the latency's messages: when the send began, by the driver's own clock.
type stamped struct {
	At int64 `json:"at"` // nanoseconds since the run began
}

// latencyCase sends at a steady rate to a consumer that polls, and takes the time from before the send to after the
// receive that returned the message.
func latencyCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(s *scratch) (_ values, err error) {
		producer, err := s.client(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, producer.close(ctx)) }()
		consumer, err := s.client(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, consumer.close(ctx)) }()
		if err := warmUp(ctx, producer, consumer); err != nil {
			return nil, err
		}
		start := time.Now()
		total := int(r.opts.Duration.Seconds() * float64(r.opts.Rate))
		var produced producedLoad
		var endToEnd *hdrhistogram.Histogram
		err = together(ctx, func(ctx context.Context) (err error) {
			produced, err = produce(ctx, producer, start, total, r.opts.Rate)
			return err
		}, func(ctx context.Context) (err error) {
			endToEnd, err = consume(ctx, consumer, start, total, r.opts.Duration+latencyTail)
			return err
		})
		if err != nil {
			return nil, err
		}
		ms := func(ns int64) float64 { return float64(ns) / 1e6 }
		return values{
			"p50": ms(endToEnd.ValueAtQuantile(50)), "p99": ms(endToEnd.ValueAtQuantile(99)), "max": ms(endToEnd.Max()),
			"send_p50": ms(produced.times.ValueAtQuantile(50)), "messages": float64(endToEnd.TotalCount()),
			"lost": float64(produced.sent - endToEnd.TotalCount()),
		}, nil
	})
}

// together has a producer and a consumer work at the same time and returns when both have ended. The consumer may have
// the last message before the producer has its answer, so that neither ends the other unless it fails; then its own
// error counts, and not what became of the other.
func together(ctx context.Context, produce, consume func(context.Context) error) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return produce(ctx) })
	both.Go(func() error { return consume(ctx) })
	return both.Wait() //nolint:wrapcheck // it says what was being done
}

// newHistogram holds times of up to ten minutes to 3 digits.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(10*time.Minute), 3) }

// warmUp has both connections plan their statements before anything counts.
func warmUp(ctx context.Context, producer, consumer *client) error {
	for range depthWarmup {
		if err := producer.send(ctx, []byte(`{"at":0}`)); err != nil {
			return err
		}
		for {
			got, err := consumer.receive(ctx, latencyBatch)
			if err != nil {
				return err
			}
			if err := consumer.ack(ctx, got); err != nil {
				return err
			}
			if len(got) > 0 {
				break
			}
		}
	}
	return nil
}

type producedLoad struct {
	sent  int64
	times *hdrhistogram.Histogram
}

// produce sends at a steady rate. A send that was late is sent at once and its time begins when it was due, so that a
// slow one does not hide the wait of those behind it.
func produce(ctx context.Context, c *client, start time.Time, total, rate int) (producedLoad, error) {
	p := producedLoad{times: newHistogram()}
	for i := range total {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-time.After(due - time.Since(start)):
		}
		payload, err := json.Marshal(stamped{At: int64(due)})
		if err != nil {
			return p, fmt.Errorf("encode payload: %w", err)
		}
		began := time.Now()
		if err := c.send(ctx, payload); err != nil {
			return p, err
		}
		p.sent++
		if err := p.times.RecordValue(int64(time.Since(began))); err != nil {
			return p, fmt.Errorf("record latency: %w", err)
		}
	}
	return p, nil
}

// consume polls until it has all messages or patience ends.
func consume(ctx context.Context, c *client, start time.Time, total int, patience time.Duration) (
	*hdrhistogram.Histogram, error,
) {
	times := newHistogram()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for times.TotalCount() < int64(total) && time.Since(start) < patience {
		got, err := c.receive(ctx, latencyBatch)
		now := time.Since(start)
		if err != nil {
			return nil, err
		}
		for _, d := range got {
			var s stamped
			if err := json.Unmarshal(d.payload, &s); err != nil {
				return nil, fmt.Errorf("decode payload: %w", err)
			}
			if err := times.RecordValue(int64(now) - s.At); err != nil {
				return nil, fmt.Errorf("record latency: %w", err)
			}
		}
		if err := c.ack(ctx, got); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
	return times, nil
}

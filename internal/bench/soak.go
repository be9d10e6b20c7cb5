package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

func soakMetrics() []metric {
	return []metric{
		{"trend", "rate, last tenth over first", "", "%.3f", atLeast(0.95)},
		{"space_trend", "largest size, last half over first", "", "%.3f", atMost(1.05)},
		{"messages", "messages", "millions", "%.1f", nil},
		{"rate", "rate", "messages/s", "%.0f", nil},
		{"bytes", "largest size", "MB", "%.1f", nil},
		{"lost", "lost or invented", "messages", "%.0f", atMost(0)},
		{"wrong", "sum of the ids sent over that of those received", "", "%.9f", nil},
	}
}

// soak is a long run of clients that send, receive and acknowledge batches.
type soak struct {
	*scratch

	opts            Options
	payloads        []string
	sent, received  atomic.Int64 // messages
	sentIDs, gotIDs atomic.Int64 // sums of their ids, modulo 2^64
}

// soakCase runs the cycle for long, watches the rate and the storage, and at the end takes what is left.
func soakCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
		k := &soak{scratch: s, opts: r.opts, payloads: make([]string, r.opts.Batch)}
		letters := newLetters()
		for i := range k.payloads {
			k.payloads[i] = r.opts.payload(letters)
		}
		working, stop := context.WithTimeout(ctx, r.opts.Duration)
		defer stop()
		failures := make([]error, r.opts.Clients)
		var clients sync.WaitGroup
		for i := range failures {
			clients.Go(func() { failures[i] = k.work(ctx, working, true) })
		}
		rates, sizes, err := k.watch(ctx, working)
		clients.Wait()
		if err := errors.Join(append(failures, err)...); err != nil {
			return nil, err
		}
		done := k.received.Load()
		if err := k.work(ctx, ctx, false); err != nil {
			return nil, err
		}
		half := len(sizes) / 2
		v := values{
			"space_trend": slices.Max(sizes[half:]) / slices.Max(sizes[:max(1, half)]),
			"messages":    float64(done) / 1e6, "rate": float64(done) / r.opts.Duration.Seconds(),
			"bytes": slices.Max(sizes) / 1e6, "lost": float64(k.sent.Load() - k.received.Load()),
			"wrong": float64(k.sentIDs.Load()) / float64(k.gotIDs.Load()),
		}
		if t := edges(rates); !math.IsNaN(t) {
			v["trend"] = t
		}
		return v, nil
	})
}

// work is one client. It stops when its time is over, or, when it does not send, when nothing is left.
func (k *soak) work(ctx, working context.Context, sends bool) (err error) {
	c, err := k.client(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(ctx)) }()
	send, err := k.sys.text("soak_send")
	if err != nil {
		return err
	}
	receive, err := k.sys.text("soak_receive")
	if err != nil {
		return err
	}
	for working.Err() == nil {
		if sends {
			var sum int64
			if err := c.conn.QueryRow(ctx, send, k.payloads).Scan(&sum); err != nil {
				return fmt.Errorf("send: %w", err)
			}
			k.sent.Add(int64(len(k.payloads)))
			k.sentIDs.Add(sum)
		}
		n, err := k.take(ctx, c, receive)
		if err != nil {
			return err
		}
		if n == 0 && !sends {
			return nil
		}
	}
	return nil
}

// take receives a batch and acknowledges it.
func (k *soak) take(ctx context.Context, c *client, receive string) (total int64, err error) {
	rows, err := c.conn.Query(ctx, receive, k.opts.Batch)
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d delivery, err error) {
		var n, sum int64
		err = row.Scan(&d.receipt, &n, nil, &sum)
		total += n
		k.gotIDs.Add(sum)
		return d, err
	})
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	k.received.Add(total)
	return total, c.ack(ctx, got)
}

// watch returns the messages of each second, or of each tenth of a short run, and the bytes at its end.
func (k *soak) watch(ctx, working context.Context) (rates, sizes []float64, err error) {
	ticker := time.NewTicker(min(time.Second, k.opts.Duration/10))
	defer ticker.Stop()
	last, over := int64(0), false
	for !over {
		select {
		case <-working.Done():
			over = true // and look once more, so that even a short run on a slow machine has been looked at twice
		case <-ticker.C:
		}
		now := k.received.Load()
		if !over {
			rates, last = append(rates, float64(now-last)), now
		}
		_, bytes, err := k.space(ctx)
		if err != nil {
			return nil, nil, err
		}
		sizes = append(sizes, float64(bytes))
	}
	return rates, sizes, nil
}

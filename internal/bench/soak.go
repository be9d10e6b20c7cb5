package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

func soakMetrics() []metric {
	return []metric{
		{"trend", "rate, last tenth over first", "", "%.3f", ">= 0.95"},
		{"space_trend", "largest size, last half over first", "", "%.3f", "<= 1.05"},
		{"messages", "messages", "millions", "%.1f", ""},
		{"rate", "rate", "messages/s", "%.0f", ""},
		{"bytes", "largest size", "MB", "%.1f", ""},
		{"lost", "lost or invented", "messages", "%.0f", "<= 0"},
		{"wrong", "sum of the ids sent over that of those received", "", "%.9f", ""},
	}
}

// book is what was sent, or received.
type book struct {
	messages, ids atomic.Int64 // ids: their sum, modulo 2^64
}

// soakCase runs the cycle for long, watches the rate and the storage, and at the end takes what is left.
func soakCase(ctx context.Context, r *runner) (values, error) {
	return r.inScratch(ctx, func(s *scratch) (values, error) {
		var sent, received book
		take := func(ctx context.Context, c *client) (int, error) { return c.takeNoting(ctx, &received) }
		looking, stop := context.WithCancel(ctx)
		looked := make(chan error, 1)
		var sizes []float64
		go func() {
			var err error
			sizes, err = s.watchSize(looking)
			looked <- err
		}()
		d, err := s.run(ctx, load{
			clients: r.opts.Clients, duration: r.opts.Duration, step: func(ctx context.Context, c *client) (int, error) {
				if err := c.sendNoting(ctx, &sent); err != nil {
					return 0, err
				}
				return take(ctx, c)
			},
		})
		stop()
		if err := errors.Join(err, <-looked); err != nil {
			return nil, err
		}
		if left := sent.messages.Load() - received.messages.Load(); left > 0 {
			if err := s.takeLeft(ctx, take); err != nil {
				return nil, err
			}
		}
		half := len(sizes) / 2
		v := values{
			"space_trend": slices.Max(sizes[half:]) / slices.Max(sizes[:max(1, half)]),
			"messages":    float64(d.messages) / 1e6, "rate": float64(d.messages) / d.elapsed.Seconds(),
			"bytes": slices.Max(sizes), "lost": float64(sent.messages.Load() - received.messages.Load()),
			"wrong": float64(sent.ids.Load()) / float64(received.ids.Load()),
		}
		if t, ok := trend(d.rates, 10); ok {
			v["trend"] = t
		}
		return v, nil
	})
}

// watchSize returns the MB of each second until ctx ends, and at its beginning and its end.
func (s *scratch) watchSize(ctx context.Context) (sizes []float64, err error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for over := false; ; {
		_, bytes, err := s.space(context.WithoutCancel(ctx))
		if err != nil || over {
			return append(sizes, float64(bytes)/1e6), err
		}
		sizes = append(sizes, float64(bytes)/1e6)
		select {
		case <-ctx.Done():
			over = true
		case <-ticker.C:
		}
	}
}

// takeLeft takes what is left until nothing comes any more.
func (s *scratch) takeLeft(ctx context.Context, take step) (err error) {
	clients, closeAll, err := s.clients(ctx, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	for {
		if n, err := take(ctx, clients[0]); n == 0 || err != nil {
			return err
		}
	}
}

func (c *client) sendNoting(ctx context.Context, b *book) error {
	var ids int64
	err := c.conn.QueryRow(ctx, "select sum(i)::bigint from weir.send_batch('bench', $1::text[]::json[]) i", c.batch).
		Scan(&ids)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	b.messages.Add(int64(len(c.batch)))
	b.ids.Add(ids)
	return nil
}

// takeNoting receives and acknowledges a batch. The sum of the ids tells the messages from others.
func (c *client) takeNoting(ctx context.Context, b *book) (total int, err error) {
	rows, err := c.conn.Query(ctx, `select claim_id, n, payloads,
			case when ids is null then n * first_id + n::bigint * (n - 1) / 2
				else (select sum(i) from unnest(ids) i) end::bigint
		from weir.receive_records('bench', max => $1)`, c.opts.Batch)
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	var claim, ids int64
	var n int
	_, err = pgx.ForEachRow(rows, []any{&claim, &n, nil, &ids}, func() error {
		total += n
		b.ids.Add(ids)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	if total == 0 {
		return 0, nil
	}
	b.messages.Add(int64(total))
	return total, c.ack(ctx, claim)
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// touchedMax is how many queues one backend uses, for its memory.
const touchedMax = 100

func queuesMetrics() []metric {
	return []metric{
		{"ratio", "cycle on one of many queues over the only queue", "", "%.3f", atMost(1.2)},
		{"create", "create a queue", "ms", "%.1f", nil},
		{"catalog", "catalog, a queue", "KB", "%.0f", nil},
		{"memory", "memory of a backend, a queue it has used", "KB", "%.0f", atMost(100)},
	}
}

// queuesCase compares a cycle on a queue among many with one on the only queue of a database, and tells what the many
// cost.
func queuesCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(one *scratch) (values, error) {
		return r.inScratch(ctx, sys, func(many *scratch) (values, error) {
			v, more := values{}, r.opts.Queues-1
			catalog, err := many.catalogBytes(ctx)
			if err != nil {
				return nil, err
			}
			start := time.Now()
			if err := many.makeQueues(ctx, more); err != nil {
				return nil, err
			}
			v["create"] = time.Since(start).Seconds() * 1e3 / float64(more)
			after, err := many.catalogBytes(ctx)
			if err != nil {
				return nil, err
			}
			v["catalog"] = float64(after-catalog) / 1e3 / float64(more)
			if v["memory"], err = many.touchMemory(ctx, min(touchedMax, more-1)); err != nil {
				return nil, err
			}
			times, err := comparePending(ctx, r, one, many)
			if err != nil {
				return nil, err
			}
			whole := times["send"] + times["receive"] + times["ack"]
			alone := times["send"]/times["send_ratio"] + times["receive"]/times["receive_ratio"] +
				times["ack"]/times["ack_ratio"]
			v["ratio"] = whole / alone
			return v, nil
		})
	})
}

func queueName(i int) string { return fmt.Sprintf("queue-%d", i) }

// makeQueues makes n queues besides the one that is there.
func (s *scratch) makeQueues(ctx context.Context, n int) error {
	text, err := s.sys.text("queue")
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := s.conn.Exec(ctx, text, queueName(i)); err != nil {
			return fmt.Errorf("make queue: %w", err)
		}
	}
	return nil
}

// catalogBytes is the size of the database's catalog.
func (s *scratch) catalogBytes(ctx context.Context) (bytes int64, err error) {
	err = s.conn.QueryRow(ctx,
		"select sum(pg_total_relation_size(oid))::bigint from pg_class where relnamespace = 'pg_catalog'::regnamespace "+
			"and relkind = 'r' and not relisshared").Scan(&bytes)
	if err != nil {
		return 0, fmt.Errorf("read size of the catalog: %w", err)
	}
	return bytes, nil
}

// touchMemory returns the kilobytes by which a backend grows for each queue that it uses.
func (s *scratch) touchMemory(ctx context.Context, queues int) (_ float64, err error) {
	text, err := s.sys.text("touch")
	if err != nil {
		return 0, err
	}
	c, err := s.client(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close(ctx)) }()
	var sizes []int64
	for i := range queues + 1 {
		for range 3 { // so that the plans are those that stay
			if _, err := c.conn.Exec(ctx, text, queueName(i)); err != nil {
				return 0, fmt.Errorf("use queue: %w", err)
			}
		}
		if i == 0 || i == queues {
			var bytes int64
			err := c.conn.QueryRow(ctx, "select sum(used_bytes)::bigint from pg_backend_memory_contexts").Scan(&bytes)
			if err != nil {
				return 0, fmt.Errorf("read memory: %w", err)
			}
			sizes = append(sizes, bytes)
		}
	}
	return float64(sizes[1]-sizes[0]) / 1e3 / float64(queues), nil
}

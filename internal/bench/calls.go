package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	callsWarmup = 50 // cycles that are not counted: they plan
	callsCount  = 400
	shallow     = 1000 // the small backlog that a deep one is compared with
	pendingCall = 10_000
	touchedMax  = 100 // queues that one backend uses, for its memory
)

func depthMetrics() []metric {
	return []metric{
		{"receive_ratio", "receive of 1, deep over shallow", "", "%.3f", "<= 1.2"},
		{"receive", "receive of 1, deep", "us", "%.0f", ""},
		{"ack_ratio", "ack, deep over shallow", "", "%.3f", ""},
	}
}

// depthCase compares the calls on a long backlog with those on a short one.
func depthCase(ctx context.Context, r *runner) (values, error) {
	return r.inTwo(ctx, func(short, long *scratch) (values, error) {
		for s, backlog := range map[*scratch]int{short: shallow, long: r.opts.Deep} {
			if err := s.preload(ctx, backlog); err != nil {
				return nil, err
			}
		}
		return compareCalls(ctx, short, long)
	})
}

func pendingMetrics() []metric {
	return []metric{
		{"send_ratio", "send, with over without", "", "%.3f", "<= 1.1"},
		{"receive_ratio", "receive of 1, with over without", "", "%.3f", "<= 1.1"},
		{"ack_ratio", "ack, with over without", "", "%.3f", "<= 1.1"},
		{"send", "send", "us", "%.0f", ""},
		{"receive", "receive of 1", "us", "%.0f", ""},
		{"ack", "ack", "us", "%.0f", ""},
	}
}

// pendingCase compares a queue that holds Options.Deep delayed messages and as many dead letters with one that holds
// none.
func pendingCase(ctx context.Context, r *runner) (values, error) {
	return r.inTwo(ctx, func(empty, full *scratch) (values, error) {
		if err := full.fillPending(ctx, r.opts.Deep); err != nil {
			return nil, err
		}
		return compareCalls(ctx, empty, full)
	})
}

// fillPending makes n delayed messages and n dead letters.
func (s *scratch) fillPending(ctx context.Context, n int) error {
	for range n / pendingCall {
		_, err := s.conn.Exec(ctx, `select count(*) from weir.send_batch('bench',
			array_fill('{"v":"abcdefghijklmn"}'::json, array[$1::int]), delay => '1 year')`, pendingCall)
		if err != nil {
			return fmt.Errorf("send delayed messages: %w", err)
		}
	}
	if err := s.preload(ctx, n); err != nil {
		return err
	}
	for dead, got := 0, 1; dead < n || got > 0; dead += got {
		err := s.conn.QueryRow(ctx, `select coalesce(sum(weir.reject('bench', claim_id, ids)), 0)::bigint
			from (select claim_id, array_agg(id) as ids from weir.receive('bench', max => $1) group by claim_id) c`,
			pendingCall).Scan(&got)
		if err != nil {
			return fmt.Errorf("reject: %w", err)
		}
	}
	return nil
}

func queuesMetrics() []metric {
	return []metric{
		{"ratio", "cycle on one of many queues over the only queue", "", "%.3f", "<= 1.2"},
		{"create", "create a queue", "ms", "%.1f", ""},
		{"catalog", "catalog, a queue", "KB", "%.0f", ""},
		{"memory", "memory of a backend, a queue it has used", "KB", "%.0f", "<= 100"},
	}
}

// queuesCase compares a cycle on a queue among many with one on the only queue of a database, and tells what the many
// cost.
func queuesCase(ctx context.Context, r *runner) (values, error) {
	return r.inTwo(ctx, func(one, many *scratch) (values, error) {
		v, more := values{}, r.opts.Queues-1
		before, err := many.catalogBytes(ctx)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		for i := range more {
			if _, err := many.conn.Exec(ctx, makeQueueText, queueName(i)); err != nil {
				return nil, fmt.Errorf("make queue: %w", err)
			}
		}
		v["create"] = time.Since(start).Seconds() * 1e3 / float64(more)
		after, err := many.catalogBytes(ctx)
		if err != nil {
			return nil, err
		}
		v["catalog"] = float64(after-before) / 1e3 / float64(more)
		if v["memory"], err = many.touchMemory(ctx, min(touchedMax, more-1)); err != nil {
			return nil, err
		}
		times, err := compareCalls(ctx, one, many)
		if err != nil {
			return nil, err
		}
		whole, alone := 0.0, 0.0
		for _, call := range calls {
			whole += times[call]
			alone += times[call] / times[call+"_ratio"]
		}
		v["ratio"] = whole / alone
		return v, nil
	})
}

func queueName(i int) string { return fmt.Sprintf("queue-%d", i) }

// catalogBytes is the size of the database's catalog.
func (s *scratch) catalogBytes(ctx context.Context) (bytes int64, err error) {
	err = s.conn.QueryRow(ctx, `select sum(pg_total_relation_size(oid))::bigint from pg_class
		where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared`).Scan(&bytes)
	if err != nil {
		return 0, fmt.Errorf("read size of the catalog: %w", err)
	}
	return bytes, nil
}

// touchMemory returns the kilobytes by which a backend grows for each queue that it uses.
func (s *scratch) touchMemory(ctx context.Context, queues int) (_ float64, err error) {
	clients, closeAll, err := s.clients(ctx, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	c := clients[0]
	var sizes []int64
	for i := range queues + 1 {
		for range 3 { // so that the plans are those that stay
			err := c.exec(ctx, "use queue",
				"select count(*) from (select weir.send($1, '1')) s cross join lateral weir.pop($1, max => 100)", queueName(i))
			if err != nil {
				return 0, err
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

// inTwo runs something in two fresh databases that are compared.
func (r *runner) inTwo(ctx context.Context, do func(one, other *scratch) (values, error)) (values, error) {
	return r.inScratch(ctx, func(one *scratch) (values, error) {
		return r.inScratch(ctx, func(other *scratch) (values, error) { return do(one, other) })
	})
}

// calls are those that are timed, one message each.
var calls = []string{"send", "receive", "ack"}

// compareCalls times the calls on both, in turns, so that noise meets both alike. It returns the microseconds of each
// on the second, and how they are to those on the first.
func compareCalls(ctx context.Context, first, second *scratch) (_ values, err error) {
	one, closeOne, err := first.clients(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeOne()) }()
	other, closeOther, err := second.clients(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeOther()) }()
	var times [2][3][]float64
	for n := range callsWarmup + callsCount {
		for i, c := range []*client{one[0], other[0]} {
			took, err := c.timedCycle(ctx)
			if err != nil {
				return nil, err
			}
			for k := range took {
				if n >= callsWarmup {
					times[i][k] = append(times[i][k], took[k])
				}
			}
		}
	}
	v := values{}
	for k, call := range calls {
		v[call] = median(times[1][k])
		v[call+"_ratio"] = v[call] / median(times[0][k])
	}
	return v, nil
}

// timedCycle sends, receives and acknowledges one message, and returns the microseconds of each.
func (c *client) timedCycle(ctx context.Context) (took [3]float64, err error) {
	at := [4]time.Time{time.Now()}
	if err := c.send(ctx, c.batch[0]); err != nil {
		return took, err
	}
	at[1] = time.Now()
	got, err := c.receiveOne(ctx)
	if err != nil {
		return took, err
	}
	at[2] = time.Now()
	err = c.ack(ctx, got.claim)
	at[3] = time.Now()
	for k := range took {
		took[k] = float64(at[k+1].Sub(at[k]).Nanoseconds()) / 1e3
	}
	return took, err
}

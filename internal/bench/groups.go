package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// The keys of the ordered case: so many, used as a Zipf distribution of this exponent says.
const (
	keyCount    = 5000
	keyExponent = 1.1
)

// fanOut is how many groups are compared with one.
const fanOut = 10

func orderedMetrics() []metric {
	return []metric{
		{"ratio", "ordered over unordered, rate", "", "%.3f", atLeast(0.6)},
		{"ordered", "ordered group", "messages/s", "%.0f", nil},
		{"unordered", "unordered group", "messages/s", "%.0f", nil},
	}
}

// orderedCase drains a backlog with keys by a group that keeps their order and by one that does not.
func orderedCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
		if err := s.makeGroups(ctx, map[string]bool{"ordered": true}); err != nil {
			return nil, err
		}
		if err := s.sendKeyed(ctx, r); err != nil {
			return nil, err
		}
		v := values{}
		for name, group := range map[string]string{"ordered": "ordered", "unordered": "default"} {
			rate, err := s.drainGroups(ctx, r, []string{group}, r.opts.Clients)
			if err != nil {
				return nil, err
			}
			v[name] = rate
		}
		v["ratio"] = v["ordered"] / v["unordered"]
		return v, nil
	})
}

func fanOutMetrics() []metric {
	return []metric{
		{"ratio", "10 groups over one, a consumer each", "", "%.2f", atLeast(5)},
		{"same_ratio", "10 groups over one with 10 consumers", "", "%.2f", nil},
		{"ten", "10 groups, a consumer each", "deliveries/s", "%.0f", nil},
		{"one", "one group, one consumer", "deliveries/s", "%.0f", nil},
		{"one_of_ten", "one group, 10 consumers", "deliveries/s", "%.0f", nil},
	}
}

// fanOutCase drains one backlog by one group and by ten, each with one consumer.
func fanOutCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
		groups := map[string]bool{"alone": false, "crowded": false}
		var ten []string
		for i := range fanOut {
			name := fmt.Sprintf("group-%d", i)
			groups[name] = false
			ten = append(ten, name)
		}
		if err := s.makeGroups(ctx, groups); err != nil {
			return nil, err
		}
		if err := s.preload(ctx, r, r.opts.Backlog, r.opts.PreloadBatch); err != nil {
			return nil, err
		}
		v := values{}
		var err error
		if v["one"], err = s.drainGroups(ctx, r, []string{"alone"}, 1); err != nil {
			return nil, err
		}
		if v["ten"], err = s.drainGroups(ctx, r, ten, 1); err != nil {
			return nil, err
		}
		if v["one_of_ten"], err = s.drainGroups(ctx, r, []string{"crowded"}, fanOut); err != nil {
			return nil, err
		}
		v["ratio"], v["same_ratio"] = v["ten"]/v["one"], v["ten"]/v["one_of_ten"]
		return v, nil
	})
}

// makeGroups makes groups by name; true: ordered.
func (s *scratch) makeGroups(ctx context.Context, groups map[string]bool) error {
	text, err := s.sys.text("group")
	if err != nil {
		return err
	}
	for name, ordered := range groups {
		if _, err := s.conn.Exec(ctx, text, name, ordered); err != nil {
			return fmt.Errorf("make group: %w", err)
		}
	}
	return nil
}

// sendKeyed sends the backlog in batches with keys.
func (s *scratch) sendKeyed(ctx context.Context, r *runner) error {
	text, err := s.sys.text("send_keyed")
	if err != nil {
		return err
	}
	letters := newLetters()
	zipf := rand.NewZipf(letters, keyExponent, 1, keyCount-1)
	payloads, keys := make([]string, r.opts.PreloadBatch), make([]string, r.opts.PreloadBatch)
	for sent := 0; sent < r.opts.Backlog; sent += len(keys) {
		for i := range keys {
			payloads[i], keys[i] = r.opts.payload(letters), fmt.Sprint("key-", zipf.Uint64())
		}
		if _, err := s.conn.Exec(ctx, text, payloads, keys); err != nil {
			return fmt.Errorf("send with keys: %w", err)
		}
	}
	return nil
}

// drainGroups consumes the backlog by groups with so many consumers each, and returns the deliveries a second of all of
// them together. It stops before the end, where consumers would look for the last messages.
func (s *scratch) drainGroups(ctx context.Context, r *runner, groups []string, consumers int) (float64, error) {
	goal := int(drainedMax * float64(r.opts.Backlog) / float64(consumers))
	counts, failures := make([]int, len(groups)*consumers), make([]error, len(groups)*consumers)
	var all sync.WaitGroup
	start := time.Now()
	for i := range counts {
		all.Go(func() { counts[i], failures[i] = s.drainOne(ctx, groups[i/consumers], r.opts.Batch, goal) })
	}
	all.Wait()
	took := time.Since(start)
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / took.Seconds(), errors.Join(failures...)
}

// drainOne is one consumer: it receives and acknowledges, each in a transaction of its own, until it had enough.
func (s *scratch) drainOne(ctx context.Context, group string, batch, goal int) (count int, err error) {
	c, err := s.client(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close(ctx)) }()
	text, err := s.sys.text("receive_group")
	if err != nil {
		return 0, err
	}
	for count < goal {
		rows, err := c.conn.Query(ctx, text, group, batch)
		if err != nil {
			return count, fmt.Errorf("receive: %w", err)
		}
		got, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d delivery, err error) {
			var n int
			err = row.Scan(&d.receipt, &n, nil)
			count += n
			return d, err
		})
		if err != nil {
			return count, fmt.Errorf("receive: %w", err)
		}
		if err := c.ack(ctx, got); err != nil {
			return count, err
		}
	}
	return count, nil
}

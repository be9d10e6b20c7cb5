package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
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
		{"ratio", "ordered over unordered, rate", "", "%.3f", ">= 0.6"},
		{"ordered", "ordered group", "messages/s", "%.0f", ""},
		{"default", "unordered group", "messages/s", "%.0f", ""},
	}
}

// orderedCase drains a backlog with keys by a group that keeps their order and by one that does not.
func orderedCase(ctx context.Context, r *runner) (values, error) {
	return r.inScratch(ctx, func(s *scratch) (values, error) {
		if err := s.makeGroup(ctx, "ordered", true); err != nil {
			return nil, err
		}
		if err := s.sendKeyed(ctx); err != nil {
			return nil, err
		}
		v := values{}
		for _, group := range []string{"ordered", "default"} {
			var err error
			if v[group], err = s.drain(ctx, []string{group}, r.opts.Clients); err != nil {
				return nil, err
			}
		}
		v["ratio"] = v["ordered"] / v["default"]
		return v, nil
	})
}

func fanOutMetrics() []metric {
	return []metric{
		{"ratio", "10 groups over one, a consumer each", "", "%.2f", ">= 5"},
		{"same_ratio", "10 groups over one with 10 consumers", "", "%.2f", ""},
		{"ten", "10 groups, a consumer each", "deliveries/s", "%.0f", ""},
		{"one", "one group, one consumer", "deliveries/s", "%.0f", ""},
		{"one_of_ten", "one group, 10 consumers", "deliveries/s", "%.0f", ""},
	}
}

// fanOutCase drains one backlog by one group and by ten, each with one consumer.
func fanOutCase(ctx context.Context, r *runner) (values, error) {
	return r.inScratch(ctx, func(s *scratch) (values, error) {
		names := []string{"alone", "crowded"}
		for i := range fanOut {
			names = append(names, fmt.Sprintf("group-%d", i))
		}
		for _, name := range names {
			if err := s.makeGroup(ctx, name, false); err != nil {
				return nil, err
			}
		}
		if err := s.preload(ctx, r.opts.Backlog); err != nil {
			return nil, err
		}
		v := values{}
		var err error
		if v["one"], err = s.drain(ctx, names[:1], 1); err != nil {
			return nil, err
		}
		if v["ten"], err = s.drain(ctx, names[2:], 1); err != nil {
			return nil, err
		}
		if v["one_of_ten"], err = s.drain(ctx, names[1:2], fanOut); err != nil {
			return nil, err
		}
		v["ratio"], v["same_ratio"] = v["ten"]/v["one"], v["ten"]/v["one_of_ten"]
		return v, nil
	})
}

func (s *scratch) makeGroup(ctx context.Context, name string, ordered bool) error {
	if _, err := s.conn.Exec(ctx, makeGroupText, name, ordered); err != nil {
		return fmt.Errorf("make group: %w", err)
	}
	return nil
}

// sendKeyed sends the backlog with keys.
func (s *scratch) sendKeyed(ctx context.Context) error {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), keyExponent, 1, keyCount-1) //nolint:gosec // the same in every run
	keys := make([]string, len(s.batch))
	send := func(ctx context.Context, c *client) (int, error) {
		for i := range keys {
			keys[i] = fmt.Sprint("key-", zipf.Uint64())
		}
		return len(keys), c.exec(ctx, "send with keys", batchText, c.batch, keys)
	}
	_, err := s.run(ctx, load{clients: 1, messages: s.opts.Backlog, step: send})
	return err
}

// drain consumes the backlog by groups with so many consumers each, and returns the deliveries a second of all of them
// together.
func (s *scratch) drain(ctx context.Context, groups []string, consumers int) (float64, error) {
	d, err := s.run(ctx, load{
		clients: len(groups) * consumers, groups: groups, messages: int(drained*float64(s.opts.Backlog)) / consumers,
		step: consumeRecords,
	})
	return float64(d.messages) / d.elapsed.Seconds(), err
}

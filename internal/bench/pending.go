package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	pendingWarmup = 50  // cycles that are not counted: they plan
	pendingCount  = 400 // cycles that are
	pendingCall   = 10_000
)

func pendingMetrics() []metric {
	return []metric{
		{"send_ratio", "send, with over without", "", "%.3f", atMost(1.1)},
		{"receive_ratio", "receive of 1, with over without", "", "%.3f", atMost(1.1)},
		{"ack_ratio", "ack, with over without", "", "%.3f", atMost(1.1)},
		{"send", "send", "us", "%.0f", nil},
		{"receive", "receive of 1", "us", "%.0f", nil},
		{"ack", "ack", "us", "%.0f", nil},
	}
}

// pendingCase compares a queue that holds Options.Deep delayed messages and as many dead letters with one that holds
// none. Both are used in turns.
func pendingCase(ctx context.Context, r *runner, sys system) (values, error) {
	return r.inScratch(ctx, sys, func(empty *scratch) (values, error) {
		return r.inScratch(ctx, sys, func(full *scratch) (values, error) {
			if err := full.fillPending(ctx, r.opts.Deep); err != nil {
				return nil, err
			}
			return comparePending(ctx, r, empty, full)
		})
	})
}

// fillPending makes n delayed messages and n dead letters.
func (s *scratch) fillPending(ctx context.Context, n int) error {
	delay, err := s.sys.text("delay")
	if err != nil {
		return err
	}
	reject, err := s.sys.text("reject")
	if err != nil {
		return err
	}
	c, err := s.client(ctx)
	if err != nil {
		return err
	}
	defer c.close(ctx) //nolint:errcheck // the database is dropped
	for range n / pendingCall {
		if _, err := c.conn.Exec(ctx, delay, pendingCall); err != nil {
			return fmt.Errorf("send delayed messages: %w", err)
		}
	}
	batch, err := s.sys.text("send_keyed")
	if err != nil {
		return err
	}
	payloads := make([]string, pendingCall)
	for i := range payloads {
		payloads[i] = `{"v":"abcdefghijklmn"}`
	}
	for dead := 0; dead < n; {
		if _, err := c.conn.Exec(ctx, batch, payloads, nil); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		for got := 1; got > 0; dead += got {
			if err := c.conn.QueryRow(ctx, reject, pendingCall).Scan(&got); err != nil {
				return fmt.Errorf("reject: %w", err)
			}
		}
	}
	return nil
}

// comparePending times the three calls on both in turns.
func comparePending(ctx context.Context, r *runner, empty, full *scratch) (_ values, err error) {
	ends := [2]*timedCycle{{}, {}}
	defer func() { err = errors.Join(err, ends[0].close(ctx), ends[1].close(ctx)) }()
	for i, s := range []*scratch{empty, full} {
		ends[i].payload = []byte(r.opts.payload(newLetters()))
		if ends[i].client, err = s.client(ctx); err != nil {
			return nil, err
		}
	}
	for i := range pendingWarmup + pendingCount {
		for _, end := range ends {
			if err := end.run(ctx, i >= pendingWarmup); err != nil {
				return nil, err
			}
		}
	}
	v := values{}
	for k, name := range []string{"send", "receive", "ack"} {
		v[name] = median(ends[1].times[k])
		v[name+"_ratio"] = v[name] / median(ends[0].times[k])
	}
	return v, nil
}

// timedCycle sends, receives and acknowledges one message after the other.
type timedCycle struct {
	client  *client
	payload []byte
	times   [3][]float64 // microseconds of each send, receive, ack
}

func (t *timedCycle) close(ctx context.Context) error {
	if t.client == nil {
		return nil
	}
	return t.client.close(ctx)
}

func (t *timedCycle) run(ctx context.Context, counts bool) error {
	var at [4]time.Time
	at[0] = time.Now()
	if err := t.client.send(ctx, t.payload); err != nil {
		return err
	}
	at[1] = time.Now()
	got, err := t.client.receiveOne(ctx)
	if err != nil {
		return err
	}
	at[2] = time.Now()
	if err := t.client.ack(ctx, got); err != nil {
		return err
	}
	at[3] = time.Now()
	if counts {
		for k := range t.times {
			t.times[k] = append(t.times[k], float64(at[k+1].Sub(at[k]).Nanoseconds())/1e3)
		}
	}
	return nil
}

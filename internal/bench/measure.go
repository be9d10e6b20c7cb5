package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// measurement is one run of a load and what it did to the database.
type measurement struct {
	loadResult

	sent, consumed int64 // by the database's counts
	claimed        int64 // left unfinished at the end
	wal            int64 // bytes
	cpu            usage
	others         time.Duration // CPU time of everything else on the machine
	hasCPU         bool
}

// measure runs a load on the scratch database. It counts only afterwards: to count is to read all of the other system's
// table, which clears away dead rows and so changes what comes next. What was there before is known from the loads that
// did it, none of which may have failed; counts that do not fit the transactions are an error.
func (s *scratch) measure(ctx context.Context, l load) (m measurement, err error) {
	wal, err := s.walPosition(ctx)
	if err != nil {
		return m, err
	}
	before := s.consumed
	if s.sys.partial {
		now, err := s.counts(ctx)
		if err != nil {
			return m, err
		}
		before = now.consumed
	}
	var meter *cpuMeter
	if s.env.local {
		meter = startMeter(ctx, s.env.admin, s.name)
	}
	busy := machineTime()
	l.dsn = s.env.dsn(s.name)
	m.loadResult, err = l.run(ctx, s.env.pgbench)
	if meter != nil {
		var meterErr error
		m.cpu, meterErr = meter.finish()
		err = errors.Join(err, meterErr)
		m.hasCPU = true
		m.others = max(0, machineTime()-busy-m.cpu.load-m.cpu.upkeep-m.cpu.vacuum-m.clientCPU)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", s.sys.name, err)
	}
	end, err := s.walPosition(ctx)
	if err != nil {
		return m, err
	}
	after, err := s.counts(ctx)
	if err != nil {
		return m, err
	}
	if after.uncounted {
		after.sent = s.sent + m.transactions*l.sends
	}
	m.wal = end - wal
	m.sent, m.consumed, m.claimed = after.sent-s.sent, after.consumed-before, after.claimed
	if m.sent != m.transactions*l.sends || m.consumed < 0 || m.consumed > m.transactions*l.receives {
		return m, fmt.Errorf("%w: %s sent %d and consumed %d in %d transactions of %d and %d", ErrCounts, s.sys.name,
			m.sent, m.consumed, m.transactions, l.sends, l.receives)
	}
	return m, nil
}

// apply runs a load that is not measured and remembers what it did.
func (s *scratch) apply(ctx context.Context, l load) (loadResult, error) {
	l.dsn = s.env.dsn(s.name)
	res, err := l.run(ctx, s.env.pgbench)
	if err != nil {
		return res, fmt.Errorf("%s: %w", s.sys.name, err)
	}
	s.sent += res.transactions * l.sends
	s.consumed += res.transactions * l.receives
	return res, nil
}

// values are the figures of one run by the name of the metric.
type values map[string]float64

// perMessage returns what the run cost, each for so many messages.
func (m measurement) perMessage(messages int64) values {
	n := float64(messages)
	v := values{
		"rate": n / m.elapsed.Seconds(), "wal": float64(m.wal) / n, "unfinished": float64(m.claimed),
		"client_cpu": m.clientCPU.Seconds() / m.elapsed.Seconds(),
	}
	if m.hasCPU {
		v["cpu"] = m.cpu.load.Seconds() / n * 1e6
		v["others"] = m.others.Seconds() / m.elapsed.Seconds()
		v["upkeep_cpu"] = (m.cpu.upkeep + m.cpu.vacuum).Seconds() / n * 1e6
	}
	return v
}

// preload sends a backlog in batches of the given size.
func (s *scratch) preload(ctx context.Context, r *runner, messages, batch int) error {
	l := r.load(s.sys, "send_batch", sends)
	l.transactions = int(math.Ceil(float64(messages) / float64(batch*l.clients)))
	l.vars, l.sends = r.vars(batch), int64(batch)
	_, err := s.apply(ctx, l)
	return err
}

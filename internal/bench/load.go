package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// step is what a client does again and again; it returns how many messages it was.
type step func(ctx context.Context, c *client) (messages int, err error)

// load is what clients do at once.
type load struct {
	clients  int
	groups   []string      // that they receive for, in turn; nil: the default
	duration time.Duration // 0: until the messages are done
	messages int           // of each client, at most; 0: until the duration is over
	step     step
}

// done is what a load did.
type done struct {
	messages int64
	elapsed  time.Duration // without the time to connect
	rates    []float64     // messages of each full second
}

// run runs a load to its end.
func (s *scratch) run(ctx context.Context, l load) (d done, err error) {
	clients, closeAll, err := s.clients(ctx, l.clients)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	var total atomic.Int64
	start := time.Now()
	all, running := errgroup.WithContext(ctx)
	for i, c := range clients {
		if l.groups != nil {
			c.group = l.groups[i%len(l.groups)]
		}
		all.Go(func() error {
			for own := 0; (l.messages == 0 || own < l.messages) && (l.duration == 0 || time.Since(start) < l.duration); {
				n, err := l.step(running, c)
				if err != nil {
					return err
				}
				own += n
				total.Add(int64(n))
			}
			return nil
		})
	}
	ended := make(chan struct{})
	ticked := make(chan struct{})
	go func() {
		defer close(ticked)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for last := int64(0); ; {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			now := total.Load()
			d.rates, last = append(d.rates, float64(now-last)), now
		}
	}()
	err = all.Wait()
	d.messages, d.elapsed = total.Load(), time.Since(start)
	close(ended)
	<-ticked
	return d, err
}

// measurement is a load and what it did to the database.
type measurement struct {
	done

	wal    int64         // bytes
	cpu    usage         // of the server
	own    time.Duration // CPU time of this process
	others time.Duration // of everything else on the machine
	hasCPU bool
}

// measure runs a load and takes what it costs.
func (s *scratch) measure(ctx context.Context, l load) (m measurement, err error) {
	wal, err := s.walPosition(ctx)
	if err != nil {
		return m, err
	}
	var meter *cpuMeter
	if s.local {
		meter = startMeter(ctx, s.admin, s.name)
	}
	busy, own := machineTime(), ownTime()
	m.done, err = s.run(ctx, l)
	if meter != nil {
		var meterErr error
		m.cpu, meterErr = meter.finish()
		err = errors.Join(err, meterErr)
		m.hasCPU, m.own = true, ownTime()-own
		m.others = max(0, machineTime()-busy-m.cpu.load-m.cpu.upkeep-m.cpu.vacuum-m.own)
	}
	if err != nil {
		return m, err
	}
	end, err := s.walPosition(ctx)
	m.wal = end - wal
	return m, err
}

// perMessage returns what the load cost, each for so many messages; nothing when there were none.
func (m measurement) perMessage() values {
	if m.messages == 0 {
		return nil
	}
	n := float64(m.messages)
	v := values{"rate": n / m.elapsed.Seconds(), "wal": float64(m.wal) / n}
	if m.hasCPU {
		v["cpu"] = m.cpu.load.Seconds() / n * 1e6
		v["upkeep_cpu"] = (m.cpu.upkeep + m.cpu.vacuum).Seconds() / n * 1e6
		v["own_cpu"] = m.own.Seconds() / m.elapsed.Seconds()
		v["others"] = m.others.Seconds() / m.elapsed.Seconds()
	}
	return v
}

// preload sends a backlog.
func (s *scratch) preload(ctx context.Context, messages int) error {
	each := (messages + s.opts.Clients - 1) / s.opts.Clients
	if _, err := s.run(ctx, load{clients: s.opts.Clients, messages: each, step: sendBatch}); err != nil {
		return fmt.Errorf("send backlog: %w", err)
	}
	return nil
}

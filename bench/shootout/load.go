package shootout

import (
	"context"
	"fmt"
	"time"

	"github.com/weirmq/weir/bench/adapter"
)

// load runs the workload from its beginning to its end.
func (r *run) load(ctx context.Context) error {
	consumes := r.w.Consumers > 0 || r.workers > 0
	if consumes && !r.w.Late {
		if err := r.startConsumers(ctx); err != nil {
			return err
		}
	}
	if err := r.startProducers(ctx); err != nil {
		return err
	}
	r.start = time.Now().Add(headStart)
	for i, p := range r.senders {
		at := r.start
		if i > 0 { // the burst
			at = at.Add(time.Duration(r.length() * burstBegin * float64(time.Second)))
		}
		if r.plans != nil {
			r.plans[i].start = at
		}
		if err := p.say(adapter.Signal{Op: "go", At: at.UnixNano()}); err != nil {
			return err
		}
	}
	for _, p := range r.consumers {
		if err := p.say(adapter.Signal{Op: "go", At: r.start.UnixNano()}); err != nil {
			return err
		}
	}
	sampling := r.sample(ctx)
	defer sampling()
	sent, err := r.attend(ctx)
	if err != nil {
		return err
	}
	r.acked = sent + r.waiting
	if consumes && r.w.Late {
		r.stopped = time.Now()
		if err := r.startLate(ctx); err != nil {
			return err
		}
	}
	if consumes && !r.w.Perpetual && (r.w.Producers > 0 || !r.w.Timed) {
		if err := r.await(ctx, r.acked); err != nil {
			return err
		}
	}
	if consumes || r.stopped.IsZero() {
		r.stopped = time.Now()
	}
	return r.stopConsumers(ctx)
}

// startLate starts the consumers of what has grown.
func (r *run) startLate(ctx context.Context) error {
	if err := r.analyze(ctx); err != nil {
		return err
	}
	if err := r.startConsumers(ctx); err != nil {
		return err
	}
	r.start = time.Now()
	for _, p := range r.consumers {
		if err := p.say(adapter.Signal{Op: "go", At: r.start.UnixNano()}); err != nil {
			return err
		}
	}
	return nil
}

// attend gives credit, kills what is to be killed, and returns when the producers have ended or the time is over, with
// the number of messages that were sent.
func (r *run) attend(ctx context.Context) (sent int64, err error) {
	ends := r.start.Add(time.Duration(r.length() * float64(time.Second)))
	killed := r.w.Kill == ""
	left := len(r.senders)
	done := make(chan error, left)
	counts := make(chan int64, left)
	for _, p := range r.senders {
		go func() {
			e, err := p.expect(ctx, "done", time.Until(ends)+lastSends)
			counts <- e.Count
			done <- err
		}()
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case err := <-done:
			sent += <-counts
			if left--; err != nil {
				return sent, err
			}
		case <-ticker.C:
		}
		if !killed && time.Until(ends).Seconds() < r.length()*(1-killAt) {
			killed = true
			if err := r.kill(ctx); err != nil {
				return sent, err
			}
		}
		switch {
		case len(r.senders) > 0 && left == 0:
			if r.w.Consumers == 0 {
				r.stopped = time.Now()
			}
			return sent, nil
		case len(r.senders) == 0 && (!r.w.Timed || r.over(ends) || r.received() >= r.waiting && !r.w.Perpetual):
			return sent, nil
		}
		if r.w.Window > 0 && left > 0 {
			for _, p := range r.senders {
				// One that has just ended takes no more; expect tells how it ended.
				_ = p.say(adapter.Signal{Op: "credit", Credit: r.waiting + r.received() + r.w.Window})
			}
		}
		if err := r.alive(); err != nil {
			return sent, err
		}
	}
}

// over reports whether consumers have had their time. A run in which nothing has come yet goes on: on a machine with
// much else to do a short one would tell nothing.
func (r *run) over(ends time.Time) bool {
	late := time.Since(ends)
	return late > 0 && (r.received() > 0 || late > lastSends)
}

// received is how many messages the consumers say they have received.
func (r *run) received() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var n int64
	for _, p := range r.consumers {
		n += p.count.Load()
	}
	return n
}

// alive fails when a consumer has ended by itself.
func (r *run) alive() error {
	for _, p := range r.consumers {
		select {
		case e, ok := <-p.events:
			if p.ended {
				continue
			}
			if !ok {
				return fmt.Errorf("%w: %s ended: %s", ErrAdapter, r.sys.Name, tail(p.stderr.String(), 2000))
			}
			return fmt.Errorf("%w: %s said %s: %s", ErrAdapter, r.sys.Name, e.Event, e.Text)
		default:
		}
	}
	return nil
}

// await waits until the consumers have received so many messages, or for as long as they make progress, but, where
// nothing was killed, no longer than a drain may take.
func (r *run) await(ctx context.Context, messages int64) error {
	messages *= int64(max(1, r.w.Groups))
	wait, left := patience, func(context.Context) (int64, error) { return messages - r.received(), nil }
	every := lookEvery
	if r.w.Kill != "" {
		wait, left, every = rescue, r.unfinished, sampleEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	began := time.Now()
	for last, since := int64(-1), began; time.Since(since) < wait; {
		n, err := left(ctx)
		if err != nil || n <= 0 {
			return err
		}
		if r.w.Kill == "" && time.Since(began) > r.drain {
			r.cut = true
			return nil
		}
		if n != last {
			last, since = n, time.Now()
		}
		if err := r.alive(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// unfinished is how many messages nobody has received or finished yet, when something was killed: what had been
// received by then comes again, so that the number of receipts does not tell.
func (r *run) unfinished(ctx context.Context) (int64, error) {
	entries, err := readLedgers(r.ledgerDir(0))
	if err != nil {
		return 0, err
	}
	_, done, err := r.tally(ctx)
	return r.acked - min(look(entries, 0).distinct, done), err
}

// stopConsumers has the consumers finish what they have begun.
func (r *run) stopConsumers(ctx context.Context) error {
	for _, p := range append(append([]*process{}, r.consumers...), r.senders...) {
		p.meter()
	}
	for _, p := range r.consumers {
		if p.ended {
			continue
		}
		if err := p.say(adapter.Signal{Op: "stop"}); err != nil {
			return err
		}
		if _, err := p.expect(ctx, "done", answerWithin); err != nil {
			return err
		}
	}
	for _, p := range r.processes() {
		if p != r.serve {
			p.end()
		}
	}
	return nil
}

// kill does what the workload wants killed: a process of workers, whose place another takes at once, or PostgreSQL,
// which is started again.
func (r *run) kill(ctx context.Context) error {
	if r.w.Kill == "postgres" {
		if r.server.own == nil {
			return fmt.Errorf("%w: the server is not ours to kill", errCannot)
		}
		_ = r.control.Close(ctx)
		r.server.own.Kill()
		if err := r.server.own.Restart(ctx); err != nil {
			return fmt.Errorf("start server again: %w", err)
		}
		return r.reconnect(ctx)
	}
	victim := r.consumers[0]
	victim.meter()
	victim.kill()
	victim.end()
	p, err := r.startConsumer(ctx, 0, r.shares()[0])
	if err != nil {
		return err
	}
	r.add(p)
	return p.say(adapter.Signal{Op: "go", At: time.Now().UnixNano()})
}

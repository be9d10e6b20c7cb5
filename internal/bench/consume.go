package bench

import (
	"context"
	"fmt"
	"time"
)

// drainedMax is the part of a backlog that a run may consume, so that it never measures receives that find nothing.
const drainedMax = 0.8

// drainCase measures how fast batches drain a backlog: the same messages by every system, however long it takes,
// because a system may slow down on the way.
func drainCase(script string, used bool) func(context.Context, *runner, system) (values, error) {
	return func(ctx context.Context, r *runner, sys system) (values, error) {
		return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
			if err := s.backlog(ctx, r, used); err != nil {
				return nil, err
			}
			return s.consume(ctx, r.drain(sys, script))
		})
	}
}

// drain is a load that consumes in batches as much of a backlog as may be consumed.
func (r *runner) drain(sys system, script string) load {
	l := r.load(sys, script, receives|inBatches)
	l.transactions = max(1, int(drainedMax*float64(r.opts.Backlog))/(r.opts.Batch*l.clients))
	return l
}

// backlog fills the queue so that Options.Backlog messages wait: in a queue that has never been received from, or in
// one that was at work just before, where nearly as many have been consumed.
func (s *scratch) backlog(ctx context.Context, r *runner, used bool) error {
	messages := r.opts.Backlog
	if used {
		messages += int(drainedMax * float64(messages))
	}
	if err := s.preload(ctx, r, messages, r.opts.PreloadBatch); err != nil || !used {
		return err
	}
	_, err := s.apply(ctx, r.drain(s.sys, "consume_rows"))
	return err
}

// consume measures a load that receives, and refuses one that found nothing.
func (s *scratch) consume(ctx context.Context, l load) (values, error) {
	m, err := s.measure(ctx, l)
	if err != nil {
		return nil, err
	}
	if m.consumed <= 0 {
		return nil, fmt.Errorf("%w: %s consumed nothing", ErrCounts, s.sys.name)
	}
	return m.perMessage(m.consumed), nil
}

// singleCase measures receives and acknowledgements of one message, from a backlog as for drainCase.
func singleCase(used bool) func(context.Context, *runner, system) (values, error) {
	return func(ctx context.Context, r *runner, sys system) (values, error) {
		return r.inScratch(ctx, sys, func(s *scratch) (values, error) {
			if err := s.backlog(ctx, r, used); err != nil {
				return nil, err
			}
			l := r.load(sys, "consume_one", receives)
			l.transactions = pilotCount
			pilot, err := s.apply(ctx, l)
			if err != nil {
				return nil, err
			}
			rate := float64(pilot.transactions) / pilot.elapsed.Seconds()
			plan := budget(rate, r.opts.Backlog, r.opts.Duration)
			l.duration, l.transactions = plan.duration, plan.transactions/l.clients
			return s.consume(ctx, l)
		})
	}
}

// pilotCount is the length of the run, for each client, that tells how long the one that counts may be.
const pilotCount = 50

// budget says how a load may run that consumes single messages: for the whole duration or, when at a pilot's rate the
// backlog would not last, for so many transactions.
func budget(rate float64, backlog int, duration time.Duration) load {
	most := drainedMax * float64(backlog)
	if rate*duration.Seconds() <= most {
		return load{duration: duration}
	}
	return load{transactions: int(most)}
}

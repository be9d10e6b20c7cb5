package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

// Dispatcher carries out what many clients ask for in few calls.
type Dispatcher struct {
	engine    *engine.Client
	log       *slog.Logger
	sends     *gatherer[sendAim, []engine.Outgoing, []engine.Sent]
	acks      *gatherer[string, []engine.ClaimPart, []int]
	extends   *gatherer[string, []engine.ClaimPart, []time.Time]
	settles   *gatherer[string, []engine.ClaimPart, []int]
	finishes  *gatherer[string, engine.JobEnd, int]
	pops      *gatherer[place, int, []engine.Message]
	receivers *receivers
	tides     *tides
	alone     *alone
}

// New returns a Dispatcher. The listener tells it what other servers and SQL sessions send; it may be nil. When drain
// ends, so does every wait for messages.
func New(drain context.Context, client *engine.Client, listener *engine.Listener, log *slog.Logger) *Dispatcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{engine: client, log: log, tides: newTides(), alone: &alone{
		connections: func() int { return client.Pool().Max }, queues: map[string]*turns{},
	}}
	d.sends = newGatherer(func(aim sendAim) func() { d.tides.beforeSend(aim.queue); return func() {} }, d.sendAll)
	d.acks = newGatherer(func(queue string) func() { d.tides.beforeAcks(queue); return d.tides.enter(queue) }, d.ackAll)
	d.extends = newGatherer(d.tides.enter, d.extendAll)
	d.settles = newGatherer(d.tides.enter, d.settleAll)
	d.finishes = newGatherer(d.tides.enter, d.finishAll)
	d.pops = newGatherer(func(at place) func() { return d.tides.enter(at.queue) }, d.popAll)
	d.receivers = newReceivers(drain, listener, d.tides, d.consume)
	return d
}

// Close returns when everything under way has been answered. Nobody asks for anything any more.
func (d *Dispatcher) Close() {
	d.sends.ended.Wait()
	d.acks.ended.Wait()
	d.extends.ended.Wait()
	d.settles.ended.Wait()
	d.finishes.ended.Wait()
	d.pops.ended.Wait()
	d.receivers.ended.Wait()
}

// Ack finishes messages, all parts or none, and returns how many for each part. ErrAlone means that nothing was done
// and that only a call for this request alone can tell why.
func (d *Dispatcher) Ack(queue string, parts []engine.ClaimPart) ([]int, error) {
	d.tides.ackCame(queue)
	defer d.tides.ackAnswered(queue)
	return d.acks.do(queue, parts, len(parts), 0)
}

// ackAll is the call for acks.
func (d *Dispatcher) ackAll(ctx context.Context, queue string, batch []*request[[]engine.ClaimPart, []int]) {
	counts, err := d.engine.AckMany(ctx, queue, together(batch))
	answerParts(batch, counts, err)
}

// consume is the call for receivers of a group. The acks that came in for the queue go along: where consumers are busy
// these are as many as the receives, and it saves them a commit.
func (d *Dispatcher) consume(ctx context.Context, at place, wants []engine.Want) ([][]engine.Message, error) {
	acks := d.acks.take(at.queue)
	if len(acks) > 0 {
		counts, shares, err := d.engine.AckAndReceive(ctx, at.queue, together(acks), at.group, wants)
		if err == nil || !refused(err) {
			answerParts(acks, counts, err)
			return shares, err
		}
		d.ackAll(ctx, at.queue, acks) // one of the two is at fault, and neither was done
	}
	return d.engine.ReceiveMany(ctx, at.queue, at.group, wants)
}

// Extend gives claims new deadlines, all or none, and returns them. ErrAlone means the same as for Ack.
func (d *Dispatcher) Extend(queue string, parts []engine.ClaimPart) ([]time.Time, error) {
	return d.extends.do(queue, parts, len(parts), 0)
}

// extendAll is the call for extends.
func (d *Dispatcher) extendAll(ctx context.Context, queue string, batch []*request[[]engine.ClaimPart, []time.Time]) {
	deadlines, err := d.engine.ExtendMany(ctx, queue, together(batch))
	answerParts(batch, deadlines, err)
}

// together numbers the requests of a batch and puts their parts into one list.
func together[O any](batch []*request[[]engine.ClaimPart, O]) []engine.ClaimPart {
	var all []engine.ClaimPart
	for i, r := range batch {
		for _, part := range r.in {
			part.Request = i
			all = append(all, part)
		}
	}
	return all
}

// answerParts gives every request the results of its parts.
func answerParts[O any](batch []*request[[]engine.ClaimPart, []O], results []*O, err error) {
	for _, r := range batch {
		if err != nil {
			r.answer(nil, err)
			continue
		}
		out, failed := make([]O, 0, len(r.in)), error(nil)
		for _, result := range results[:len(r.in)] {
			if result == nil {
				failed = ErrAlone
				break
			}
			out = append(out, *result)
		}
		results = results[len(r.in):]
		r.answer(out, failed)
	}
}

// CallStats say how many requests of a kind were carried out by how many calls.
type CallStats struct {
	Requests, Calls int64
}

// Stats say what a Dispatcher has done and holds.
type Stats struct {
	Sends, Acks, Extends, Settles, Finishes, Pops, Receives CallStats

	Waiting   int64 // all but receives that are not answered yet
	Receivers int64 // receives that are not answered yet
}

// Stats returns the counts so far.
func (d *Dispatcher) Stats() Stats {
	return Stats{
		Sends: d.sends.counts.read(), Acks: d.acks.counts.read(), Extends: d.extends.counts.read(),
		Settles: d.settles.counts.read(), Finishes: d.finishes.counts.read(), Pops: d.pops.counts.read(),
		Receives: d.receivers.counts.read(),
		Waiting: d.sends.waiting.Load() + d.acks.waiting.Load() + d.extends.waiting.Load() +
			d.settles.waiting.Load() + d.finishes.waiting.Load() + d.pops.waiting.Load(),
		Receivers: d.receivers.held(),
	}
}

package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/weirmq/weir/internal/engine"
)

// lockTimeout is how long a call for several senders waits for a transaction that is sending one of their dedup keys.
const lockTimeout = 100 * time.Millisecond

// sendAim is what the messages of a call have in common.
type sendAim struct {
	queue   string
	options engine.SendOptions
	once    bool // some have dedup keys
}

// Send sends messages, all or none, and returns what became of each. ErrAlone means that nothing was done and that only
// a call for this request alone can wait as long as it takes.
func (d *Dispatcher) Send(queue string, batch []engine.Outgoing, options engine.SendOptions) ([]engine.Sent, error) {
	bytes := 0
	for _, m := range batch {
		bytes += len(m.Payload) + len(m.Headers)
	}
	once := slices.ContainsFunc(batch, func(m engine.Outgoing) bool { return m.DedupKey != nil })
	return d.sends.do(sendAim{queue, options, once}, batch, len(batch), bytes)
}

// sendAll is the call for sends.
func (d *Dispatcher) sendAll(ctx context.Context, aim sendAim, batch []*request[[]engine.Outgoing, []engine.Sent]) {
	var all []engine.Outgoing
	for _, r := range batch {
		all = append(all, r.in...)
	}
	sent, err := d.send(ctx, aim, all)
	if err != nil && len(batch) > 1 && (concernsOne(err) || crossed(err)) {
		d.sendAll(ctx, aim, batch[:len(batch)/2])
		d.sendAll(ctx, aim, batch[len(batch)/2:])
		return
	}
	if crossed(err) {
		err = ErrAlone
	}
	for _, r := range batch {
		if err != nil {
			r.answer(nil, err)
			continue
		}
		n := len(r.in)
		r.answer(sent[:n:n], nil)
		sent = sent[n:]
	}
	if err == nil {
		if aim.options.Delay == 0 {
			d.tides.sent(aim.queue, len(all))
		}
		d.receivers.sent(aim.queue)
	}
}

// send makes one call of the engine.
func (d *Dispatcher) send(ctx context.Context, aim sendAim, batch []engine.Outgoing) ([]engine.Sent, error) {
	if aim.once {
		return d.engine.SendOnceWithin(ctx, lockTimeout, aim.queue, batch, aim.options)
	}
	ids, err := d.engine.SendBatch(ctx, aim.queue, batch, aim.options)
	if err != nil {
		return nil, err
	}
	sent := make([]engine.Sent, len(ids))
	for i, id := range ids {
		sent[i].ID = id
	}
	return sent, nil
}

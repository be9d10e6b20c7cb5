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
		bytes += len(m.Payload) + len(m.Body) + len(m.Headers)
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
}

// arrived tells those who wait for messages of a queue that there are some.
func (d *Dispatcher) arrived(aim sendAim, messages int) {
	if aim.options.Delay == 0 {
		d.tides.sent(aim.queue, messages)
	}
	d.receivers.sent(aim.queue)
}

// send makes the calls of the engine for a batch. Where consumers wait for its messages, they get them while the disk
// still writes: who claims them waits for that, and so does the producer, after them.
func (d *Dispatcher) send(ctx context.Context, aim sendAim, batch []engine.Outgoing) (sent []engine.Sent, err error) {
	if aim.once {
		if sent, err = d.engine.SendOnceWithin(ctx, lockTimeout, aim.queue, batch, aim.options); err == nil {
			d.arrived(aim, len(batch))
		}
		return sent, err
	}
	send, awaited := d.engine.SendBatch, d.receivers.awaited(aim.queue)
	if awaited {
		send = d.engine.SendBatchAhead
	}
	ids, err := send(ctx, aim.queue, batch, aim.options)
	if err != nil {
		return nil, err
	}
	d.arrived(aim, len(batch))
	if awaited {
		if err := d.engine.Flush(ctx); err != nil {
			return nil, err
		}
	}
	sent = make([]engine.Sent, len(ids))
	for i, id := range ids {
		sent[i].ID = id
	}
	return sent, nil
}

package dispatch

import (
	"context"
	"slices"

	"github.com/weirmq/weir/internal/engine"
)

// Settle nacks, releases, snoozes and rejects messages, all parts or none, and returns how many of each part. ErrAlone
// means the same as for Ack.
func (d *Dispatcher) Settle(queue string, parts []engine.ClaimPart) ([]int, error) {
	bytes := 0
	for _, p := range parts {
		if p.Reason != nil {
			bytes += len(*p.Reason)
		}
	}
	d.tides.settleCame(queue)
	return d.settles.do(queue, parts, len(parts), bytes)
}

// settleAll is the call for what is settled otherwise than by an ack. When it is refused for the sake of one request,
// or would wait for another transaction, the batch is halved until that request is alone.
func (d *Dispatcher) settleAll(ctx context.Context, queue string, batch []*request[[]engine.ClaimPart, []int]) {
	parts := together(batch)
	counts, err := d.engine.SettleMany(ctx, lockTimeout, queue, parts)
	code := engine.Code(err)
	if concernsOne(err) || crossed(err) || code == engine.CodeClaimExpired || code == engine.CodeEngineCorrupt {
		if len(batch) > 1 {
			d.settleAll(ctx, queue, batch[:len(batch)/2])
			d.settleAll(ctx, queue, batch[len(batch)/2:])
			return
		}
		err = ErrAlone
	}
	answerParts(batch, counts, err)
	if err == nil && slices.ContainsFunc(parts, dueAtOnce) {
		d.receivers.sent(queue)
	}
}

// dueAtOnce reports whether what a part gives back may be received again without a wait.
func dueAtOnce(p engine.ClaimPart) bool {
	return p.Verb == engine.VerbRelease || p.Delay != nil && *p.Delay <= 0
}

// Pop takes up to n messages of a group and finishes them.
func (d *Dispatcher) Pop(queue, group string, n int) ([]engine.Message, error) {
	if n < 1 || n > messagesMax {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		return d.engine.Pop(ctx, queue, group, n)
	}
	return d.pops.do(place{queue, group}, n, n, 0)
}

// popAll is the call for those that pop from a group: it takes as much as all of them want, and the first is served
// first.
func (d *Dispatcher) popAll(ctx context.Context, at place, batch []*request[int, []engine.Message]) {
	total := 0
	for _, r := range batch {
		total += r.in
	}
	list, err := d.engine.Pop(ctx, at.queue, at.group, total)
	for _, r := range batch {
		n := min(r.in, len(list))
		r.answer(list[:n:n], err)
		list = list[n:]
	}
}

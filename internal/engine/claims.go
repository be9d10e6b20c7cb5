package engine

import (
	"context"
	"fmt"
	"time"
)

const (
	sqlAck    = `select weir.ack($1, $2, ids => $3)`
	sqlAckAll = `select weir.ack_all($1, $2)`
	sqlNack   = `select weir.nack($1, $2, ids => $3, delay => $4, reason => $5)`
	sqlReject = `select weir.reject($1, $2, ids => $3, reason => $4)`
	sqlExtend = `select weir.extend($1, $2, lease => $3)`
)

// Ack finishes messages of a claim, and no others, and returns how many it finished. Nil ids are refused.
func (c *Client) Ack(ctx context.Context, queue string, claim int64, ids []int64) (int, error) {
	return one[int](ctx, c, "ack messages", sqlAck, queue, claim, ids)
}

// AckAll finishes all of a claim that is not finished yet and returns how many messages that were.
func (c *Client) AckAll(ctx context.Context, queue string, claim int64) (int, error) {
	return one[int](ctx, c, "ack claim", sqlAckAll, queue, claim)
}

// AckPart is Ack, or AckAll when the part is a whole claim.
func (c *Client) AckPart(ctx context.Context, queue string, p ClaimPart) (int, error) {
	if p.IDs == nil {
		return c.AckAll(ctx, queue, p.Claim)
	}
	return c.Ack(ctx, queue, p.Claim, p.IDs)
}

// AckUnfinished is AckPart for work that must not be done twice: when the messages were finished before, it is an
// error.
func (c *Client) AckUnfinished(ctx context.Context, queue string, p ClaimPart) (int, error) {
	n, err := c.AckPart(ctx, queue, p)
	if err == nil && n == 0 {
		return 0, finishedBefore(fmt.Sprintf("claim %d of queue %q", p.Claim, queue))
	}
	return n, err
}

// finishedBefore is the error of what must find something to finish, and found it finished.
func finishedBefore(what string) error {
	return NewError(CodeAlreadyFinished, what+" was finished before",
		"When this is a repetition, the first request was carried out: nothing is left to do.")
}

// Nack gives messages of a claim back for another attempt, what is left of it when ids is nil. It comes after delay, or
// after the group's backoff when that is nil.
func (c *Client) Nack(
	ctx context.Context, queue string, claim int64, ids []int64, delay *time.Duration, reason *string,
) (int, error) {
	return one[int](ctx, c, "nack messages", sqlNack, queue, claim, ids, delay, reason)
}

// Reject moves messages of a claim to the dead letters now. Nil ids are refused.
func (c *Client) Reject(ctx context.Context, queue string, claim int64, ids []int64, reason *string) (int, error) {
	return one[int](ctx, c, "reject messages", sqlReject, queue, claim, ids, reason)
}

// Extend gives a claim a new deadline, a lease from now, and returns it.
func (c *Client) Extend(ctx context.Context, queue string, claim int64, lease time.Duration) (time.Time, error) {
	t, err := one[time.Time](ctx, c, "extend claim", sqlExtend, queue, claim, lease)
	return t.UTC(), err
}

// Settle nacks, releases, snoozes or rejects a part of a claim, as its verb says.
func (c *Client) Settle(ctx context.Context, queue string, p ClaimPart) (int, error) {
	switch p.Verb {
	case VerbNack:
		return c.Nack(ctx, queue, p.Claim, p.IDs, p.Delay, p.Reason)
	case VerbRelease:
		return c.Release(ctx, queue, p.Claim, p.IDs)
	case VerbSnooze:
		return c.Snooze(ctx, queue, p.Claim, p.IDs, *p.Delay)
	case VerbReject:
		return c.Reject(ctx, queue, p.Claim, p.IDs, p.Reason)
	}
	return 0, NewError(CodeInvalidArgument, fmt.Sprintf("%q is no way to settle a claim", p.Verb), "")
}

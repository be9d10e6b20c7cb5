package engine

import (
	"context"
	"fmt"
	"time"
)

const (
	sqlAck    = `select weir.ack($1, $2, ids => $3)`
	sqlNack   = `select weir.nack($1, $2, ids => $3, delay => $4, reason => $5)`
	sqlReject = `select weir.reject($1, $2, ids => $3, reason => $4)`
	sqlExtend = `select weir.extend($1, $2, lease => $3)`
)

// Ack finishes the messages of a claim, all of them when ids is nil, and returns how many it finished.
func (c *Client) Ack(ctx context.Context, queue string, claim int64, ids []int64) (int, error) {
	return one[int](ctx, c, "ack messages", sqlAck, queue, claim, ids)
}

// AckUnfinished is Ack for work that must not be done twice: when the messages were finished before, it is an error.
func (c *Client) AckUnfinished(ctx context.Context, queue string, claim int64, ids []int64) (int, error) {
	n, err := c.Ack(ctx, queue, claim, ids)
	if err == nil && n == 0 {
		return 0, finishedBefore(fmt.Sprintf("claim %d of queue %q", claim, queue))
	}
	return n, err
}

// finishedBefore is the error of what must find something to finish, and found it finished.
func finishedBefore(what string) error {
	return NewError(CodeAlreadyFinished, what+" was finished before",
		"When this is a repetition, the first request was carried out: nothing is left to do.")
}

// Nack gives messages of a claim back for another attempt after delay, or after the group's backoff when it is nil.
func (c *Client) Nack(
	ctx context.Context, queue string, claim int64, ids []int64, delay *time.Duration, reason *string,
) (int, error) {
	return one[int](ctx, c, "nack messages", sqlNack, queue, claim, ids, delay, reason)
}

// Reject moves messages of a claim to the dead letters now.
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

package engine

import (
	"context"
	"fmt"
)

const (
	sqlDeadLetters = `select id, key, payload, headers, enqueued_at, attempts, died_at, reason
		from weir.dead_letters($1, $2, max => $3, after => $4)`
	sqlRedrive = `select weir.redrive($1, $2, ids => $3)`
	sqlDiscard = `select weir.discard($1, $2, ids => $3)`
)

// DeadLetters returns up to n dead letters of a group with ids above after, in the order of their ids.
func (c *Client) DeadLetters(ctx context.Context, queue, group string, n int, after int64) ([]DeadLetter, error) {
	return collect(ctx, c, "list dead letters", sqlDeadLetters, func(d *DeadLetter) []any {
		return []any{&d.ID, &d.Key, &d.Payload, &d.Headers, (*utc)(&d.EnqueuedAt), &d.Attempts, (*utc)(&d.DiedAt), &d.Reason}
	}, queue, group, n, after)
}

// Redrive sends dead letters back to their own group, all of them when ids is nil, and returns how many.
func (c *Client) Redrive(ctx context.Context, queue, group string, ids []int64) (int64, error) {
	return one[int64](ctx, c, "redrive dead letters", sqlRedrive, queue, group, ids)
}

// Discard removes dead letters for good, all of them when ids is nil, and returns how many.
func (c *Client) Discard(ctx context.Context, queue, group string, ids []int64) (int64, error) {
	return one[int64](ctx, c, "discard dead letters", sqlDiscard, queue, group, ids)
}

// DeadLetter returns one dead letter.
func (c *Client) DeadLetter(ctx context.Context, queue, group string, id int64) (DeadLetter, error) {
	list, err := c.DeadLetters(ctx, queue, group, 1, id-1)
	if err != nil {
		return DeadLetter{}, err
	}
	if len(list) == 0 || list[0].ID != id {
		return DeadLetter{}, newError(CodeDeadLetterNotFound,
			fmt.Sprintf("group %q of queue %q has no dead letter %d", group, queue, id),
			"select * from weir.dead_letters(...) shows what there is")
	}
	return list[0], nil
}

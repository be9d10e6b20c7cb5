package engine

import (
	"context"
	"fmt"
)

const (
	sqlDeadLetters = `select id, key, payload_text, headers, enqueued_at, attempts, died_at, reason,
		case when payload_text is null then body end from weir.dead_letters($1, $2, max => $3, after => $4)`
	sqlRedrive = `select weir.redrive($1, $2, ids => $3)`
	sqlDiscard = `select weir.discard($1, $2, ids => $3)`
)

// DeadLetters returns up to n dead letters of a group with ids above after, in the order of their ids.
func (c *Client) DeadLetters(ctx context.Context, queue, group string, n int, after int64) ([]DeadLetter, error) {
	return collect(ctx, c, "list dead letters", sqlDeadLetters, func(d *DeadLetter) []any {
		return []any{
			&d.ID, &d.Key, &d.Payload, &d.Headers, (*utc)(&d.EnqueuedAt), &d.Attempts, (*utc)(&d.DiedAt), &d.Reason, &d.Body,
		}
	}, queue, group, n, after)
}

// takeMax is how many dead letters one call of redrive or discard takes at most.
const takeMax = 10_000

// Redrive sends these dead letters back to their own group and returns how many.
func (c *Client) Redrive(ctx context.Context, queue, group string, ids []int64) (int64, error) {
	return c.take(ctx, "redrive dead letters", sqlRedrive, queue, group, ids)
}

// Discard removes these dead letters for good and returns how many.
func (c *Client) Discard(ctx context.Context, queue, group string, ids []int64) (int64, error) {
	return c.take(ctx, "discard dead letters", sqlDiscard, queue, group, ids)
}

// take is one call. Nil ids would mean all of them in SQL; here that has a method of its own.
func (c *Client) take(ctx context.Context, doing, sql, queue, group string, ids []int64) (int64, error) {
	if ids == nil {
		ids = []int64{}
	}
	return one[int64](ctx, c, doing, sql, queue, group, ids)
}

// RedriveAll sends all dead letters of a group back to it, in as many calls as it takes, and returns how many.
func (c *Client) RedriveAll(ctx context.Context, queue, group string) (int64, error) {
	return c.takeAll(ctx, "redrive dead letters", sqlRedrive, queue, group)
}

// DiscardAll removes all dead letters of a group for good, in as many calls as it takes, and returns how many.
func (c *Client) DiscardAll(ctx context.Context, queue, group string) (int64, error) {
	return c.takeAll(ctx, "discard dead letters", sqlDiscard, queue, group)
}

// takeAll ends with the first call that does not fill up: what dies again meanwhile is not taken for ever.
func (c *Client) takeAll(ctx context.Context, doing, sql, queue, group string) (int64, error) {
	var all int64
	for {
		n, err := one[int64](ctx, c, doing, sql, queue, group, nil)
		all += n
		if err != nil || n < takeMax {
			return all, err
		}
	}
}

// DeadLetter returns one dead letter.
func (c *Client) DeadLetter(ctx context.Context, queue, group string, id int64) (DeadLetter, error) {
	list, err := c.DeadLetters(ctx, queue, group, 1, id-1)
	if err != nil {
		return DeadLetter{}, err
	}
	if len(list) == 0 || list[0].ID != id {
		return DeadLetter{}, NewError(CodeDeadLetterNotFound,
			fmt.Sprintf("group %q of queue %q has no dead letter %d", group, queue, id),
			"select * from weir.dead_letters(...) shows what there is")
	}
	return list[0], nil
}

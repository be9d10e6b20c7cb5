package weir

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Claimed is what calls take that are about claimed messages: a [Message] or several [Messages], or their numbers as
// [Ref] or [Refs].
type Claimed interface {
	refs() []Ref
}

// Ref is the numbers of a claimed message, for who has kept no more of it.
type Ref struct {
	ClaimID int64
	ID      int64
	Group   string // which a server asks for; "" is DefaultGroup
}

func (r Ref) refs() []Ref { return []Ref{r} }

func (m *Message[T]) refs() []Ref { return []Ref{{ClaimID: m.ClaimID, ID: m.ID, Group: m.Group}} }

// Messages are several messages, as a receive gives them.
type Messages[T any] []*Message[T]

func (ms Messages[T]) refs() []Ref {
	all := make([]Ref, len(ms))
	for i, m := range ms {
		all[i] = m.refs()[0]
	}
	return all
}

// Refs are the numbers of several messages.
type Refs []Ref

func (r Refs) refs() []Ref { return r }

// settlement is what shall become of messages of one claim.
type settlement struct {
	verb   verb
	group  string
	claim  int64
	ids    []int64 // nil = all that are left
	delay  *time.Duration
	reason string
	result json.RawMessage // of finish
}

// of returns what shall become of messages, an item a claim, in the order in which claims are locked.
func (s settlement) of(messages Claimed) []settlement {
	var items []settlement
	place := map[int64]int{}
	for _, r := range messages.refs() {
		i, known := place[r.ClaimID]
		if !known {
			i = len(items)
			place[r.ClaimID] = i
			item := s
			item.claim, item.group = r.ClaimID, cmp.Or(r.Group, DefaultGroup)
			items = append(items, item)
		}
		items[i].ids = append(items[i].ids, r.ID)
	}
	slices.SortFunc(items, func(a, b settlement) int { return cmp.Compare(a.claim, b.claim) })
	return items
}

// Ack finishes messages, and no others of their claims, and returns how many it finished: none of those that were
// finished before.
func (c *Client) Ack(ctx context.Context, queue string, messages Claimed) (int, error) {
	return c.settle(ctx, queue, settlement{verb: ack}.of(messages))
}

// AckAll finishes what of a claim is not finished yet, and returns how many messages that were. All that one Receive
// returned is one claim.
func (c *Client) AckAll(ctx context.Context, queue string, claim int64) (int, error) {
	return c.settle(ctx, queue, []settlement{{verb: ack, claim: claim}})
}

// Nack gives messages back for another attempt, with the group's backoff unless After says when, and returns how many.
func (c *Client) Nack(ctx context.Context, queue string, messages Claimed, opts ...NackOption) (int, error) {
	s := settlement{verb: nack}
	for _, set := range opts {
		set(&s)
	}
	return c.settle(ctx, queue, s.of(messages))
}

// Reject makes messages dead letters, and returns how many.
func (c *Client) Reject(ctx context.Context, queue string, messages Claimed, reason string) (int, error) {
	return c.settle(ctx, queue, settlement{verb: reject, reason: reason}.of(messages))
}

// Release gives messages back unused, and returns how many: they are delivered again at once, and this delivery does
// not count as an attempt.
func (c *Client) Release(ctx context.Context, queue string, messages Claimed) (int, error) {
	return c.settle(ctx, queue, settlement{verb: release}.of(messages))
}

// Snooze gives messages back for later, without counting the attempt, and returns how many.
func (c *Client) Snooze(ctx context.Context, queue string, messages Claimed, delay time.Duration) (int, error) {
	return c.settle(ctx, queue, settlement{verb: snooze, delay: &delay}.of(messages))
}

// settle does one thing to messages of some claims, all or none. Doing it twice does no harm.
func (c *Client) settle(ctx context.Context, queue string, items []settlement) (n int, err error) {
	if len(items) == 0 {
		return 0, nil
	}
	counts, err := retry(ctx, c.tries, true, func() ([]int, error) {
		return c.b.settle(ctx, items[0].verb, queue, items)
	})
	for _, finished := range counts {
		n += finished
	}
	return n, err
}

// Extend gives the claims of messages a new deadline, a lease from now, and returns it: the earliest of several.
func (c *Client) Extend(
	ctx context.Context, queue string, messages Claimed, lease time.Duration,
) (deadline time.Time, err error) {
	items := settlement{}.of(messages)
	if len(items) == 0 {
		return time.Time{}, nil
	}
	claims := make([]int64, len(items))
	for i, item := range items {
		claims[i] = item.claim
	}
	deadlines, err := retry(ctx, c.tries, true, func() ([]time.Time, error) {
		return c.b.extend(ctx, queue, items[0].group, claims, lease)
	})
	if err != nil || len(deadlines) == 0 {
		return time.Time{}, err
	}
	return slices.MinFunc(deadlines, time.Time.Compare).UTC(), nil
}

// single is the one message that a call is about.
func single(messages Claimed) (Ref, error) {
	refs := messages.refs()
	if len(refs) != 1 {
		return Ref{}, fmt.Errorf("%w: %d messages in place of one", ErrInvalidArgument, len(refs))
	}
	return refs[0], nil
}

package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Message is one delivered message with a payload of type T.
type Message[T any] struct {
	ID         int64          // the same at every delivery; rises within the queue
	ClaimID    int64          // the same of all messages of one receive; 0 from Peek
	Attempt    int            // 1 at the first delivery
	Key        string         // "" when it was sent without one
	Payload    T              // as sent
	Body       []byte         // of a message that was sent as bytes, which has no payload; else nil
	Headers    map[string]any // as sent, or nil
	EnqueuedAt time.Time      // when it was sent
	Queue      string
	Group      string

	client *Client
	own    *ownTransaction // nil where no worker looks
	result json.RawMessage // of a job, once its handler has set it
}

// RawMessage is a message whose payload is still JSON.
type RawMessage = Message[json.RawMessage]

// Decode returns the message with its payload as a T. The error is ErrPayload when it does not fit.
func Decode[T any](raw *RawMessage) (*Message[T], error) {
	if same, ok := any(raw).(*Message[T]); ok {
		return same, nil
	}
	m := &Message[T]{
		ID: raw.ID, ClaimID: raw.ClaimID, Attempt: raw.Attempt, Key: raw.Key, Body: raw.Body, Headers: raw.Headers,
		EnqueuedAt: raw.EnqueuedAt, Queue: raw.Queue, Group: raw.Group, client: raw.client, own: raw.own,
	}
	if err := json.Unmarshal(raw.Payload, &m.Payload); err != nil {
		return nil, fmt.Errorf("decode message %d of %s: %w: %w", raw.ID, raw.Queue, ErrPayload, err)
	}
	return m, nil
}

// Ack finishes the message. Not for handlers of a worker: their result does it.
func (m *Message[T]) Ack(ctx context.Context) error {
	_, err := m.client.Ack(ctx, m.Queue, m)
	return err
}

// Nack gives the message back for another attempt, with the group's backoff unless After says when.
func (m *Message[T]) Nack(ctx context.Context, opts ...NackOption) error {
	_, err := m.client.Nack(ctx, m.Queue, m, opts...)
	return err
}

// Reject makes the message a dead letter.
func (m *Message[T]) Reject(ctx context.Context, reason string) error {
	_, err := m.client.Reject(ctx, m.Queue, m, reason)
	return err
}

// Release gives the message back unused: it is delivered again at once, and the attempt is not counted.
func (m *Message[T]) Release(ctx context.Context) error {
	_, err := m.client.Release(ctx, m.Queue, m)
	return err
}

// Snooze gives the message back for later; the attempt is not counted.
func (m *Message[T]) Snooze(ctx context.Context, delay time.Duration) error {
	_, err := m.client.Snooze(ctx, m.Queue, m, delay)
	return err
}

// Extend gives the message's claim a new lease, counted from now: also for what else the same receive brought.
func (m *Message[T]) Extend(ctx context.Context, lease time.Duration) error {
	_, err := m.client.Extend(ctx, m.Queue, m, lease)
	return err
}

// ExactlyOnce runs fn in a transaction that also acks the message: what fn writes and sends through it, and the ack,
// happen together or not at all. The ack comes first, so that nothing is done for a message that went to another, nor
// twice for one that an earlier call has finished, as after ErrOutcomeUnknown.
func (m *Message[T]) ExactlyOnce(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return m.own.run(func() error { return m.exactlyOnce(ctx, fn) })
}

func (m *Message[T]) exactlyOnce(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return m.client.transaction(ctx, func(tx pgx.Tx) error {
		m.own.settles()
		n, err := m.client.In(tx).Ack(ctx, m.Queue, m)
		if err != nil || n == 0 {
			return err
		}
		return fn(tx)
	})
}

// ownTransaction is how far a transaction is in which a handler settles its message. While it is open nobody else gets
// the message, whatever its lease, and nobody can renew its claim.
type ownTransaction struct{ state atomic.Int32 }

const (
	ownNone int32 = iota // not there, or rolled back
	ownOpen              // it has settled the message, or is about to
	ownDone              // committed
)

// run runs what makes the transaction.
func (o *ownTransaction) run(transaction func() error) error {
	err := transaction()
	switch {
	case o == nil:
	case err == nil:
		o.state.Store(ownDone)
	default:
		o.state.Store(ownNone)
	}
	return err
}

func (o *ownTransaction) settles() {
	if o != nil {
		o.state.Store(ownOpen)
	}
}

func (o *ownTransaction) open() bool { return o.state.Load() == ownOpen }

// decides reports whether the transaction, and no lease, tells what becomes of the message.
func (o *ownTransaction) decides() bool { return o.state.Load() != ownNone }

// DeadLetter is a message that used up its attempts or was rejected.
type DeadLetter struct {
	ID         int64           `json:"id"`
	Key        *string         `json:"key"`
	Payload    json.RawMessage `json:"payload"`
	Body       []byte          `json:"body"` // of a message that was sent as bytes, which has no payload
	Headers    json.RawMessage `json:"headers"`
	EnqueuedAt time.Time       `json:"enqueued_at"`
	Attempts   int             `json:"attempts"`
	DiedAt     time.Time       `json:"died_at"`
	Reason     *string         `json:"reason"`
}

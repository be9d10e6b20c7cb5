package weir

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Producer sends payloads of one type to one queue.
type Producer[T any] struct {
	client *Client
	queue  string
}

// NewProducer returns a producer for a queue.
func NewProducer[T any](c *Client, queue string) Producer[T] {
	return Producer[T]{client: c, queue: queue}
}

// In returns a producer that sends in a transaction of the caller's.
func (p Producer[T]) In(tx pgx.Tx) Producer[T] {
	return Producer[T]{client: p.client.In(tx), queue: p.queue}
}

// InSQL is In for a transaction of database/sql.
func (p Producer[T]) InSQL(tx SQLQuerier) Producer[T] {
	return Producer[T]{client: p.client.InSQL(tx), queue: p.queue}
}

// Send sends one message and returns its id.
func (p Producer[T]) Send(ctx context.Context, payload T, opts ...SendOption) (int64, error) {
	return p.client.Send(ctx, p.queue, payload, opts...)
}

// SendBatch sends messages in their order, all or none, and returns their ids.
func (p Producer[T]) SendBatch(ctx context.Context, payloads []T, opts ...SendOption) ([]int64, error) {
	batch := make([]Outgoing, len(payloads))
	for i, payload := range payloads {
		batch[i].Payload = payload
	}
	return p.client.SendBatch(ctx, p.queue, batch, opts...)
}

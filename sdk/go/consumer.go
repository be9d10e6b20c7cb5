package weir

import (
	"context"
	"iter"
	"time"
)

// Consumer receives payloads of one type from one queue, for programs with a loop of their own; a Worker has one.
type Consumer[T any] struct {
	client  *Client
	queue   string
	options receiveOptions
}

// NewConsumer returns a consumer of a queue. The options are those of Receive.
func NewConsumer[T any](c *Client, queue string, opts ...ReceiveOption) Consumer[T] {
	return Consumer[T]{client: c, queue: queue, options: collectReceive(1, opts)}
}

// Receive claims messages. When a payload does not fit its type the error is ErrPayload, and the messages that do fit
// come with it; the claim of the others ends with its lease.
func (c Consumer[T]) Receive(ctx context.Context) (Messages[T], error) {
	raw, err := c.client.receive(ctx, c.queue, c.options)
	messages := make(Messages[T], 0, len(raw))
	for _, r := range raw {
		m, unfit := Decode[T](r)
		if unfit != nil {
			err = unfit
			continue
		}
		messages = append(messages, m)
	}
	return messages, err
}

// consumeWait is how long one call of Messages waits.
const consumeWait = 30 * time.Second

// Messages yields messages until ctx ends, waiting for more when there are none. An error that it yields does not end
// it: the loop may break or go on.
func (c Consumer[T]) Messages(ctx context.Context) iter.Seq2[*Message[T], error] {
	waiting := c
	waiting.options.wait = max(c.options.wait, consumeWait)
	return func(yield func(*Message[T], error) bool) {
		for ctx.Err() == nil {
			messages, err := waiting.Receive(ctx)
			for _, m := range messages {
				if !yield(m, nil) {
					return
				}
			}
			if err != nil && (ctx.Err() != nil || !yield(nil, err)) {
				return
			}
		}
	}
}

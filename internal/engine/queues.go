package engine

import (
	"context"
	"fmt"
	"time"
)

// Queue describes a queue.
type Queue struct {
	Name            string    `json:"queue"`
	Lanes           int       `json:"lanes"`
	MessageBytesMax int       `json:"message_bytes_max" doc:"The largest message, payload and headers, as stored."`
	CreatedAt       time.Time `json:"created_at"`
}

// QueueOptions are what CreateQueue may be told; nil means what the engine does unless told.
type QueueOptions struct {
	Lanes           *int
	MessageBytesMax *int
}

// Fits reports whether a queue is what the options ask for.
func (o QueueOptions) Fits(q Queue) bool {
	return (o.Lanes == nil || *o.Lanes == q.Lanes) &&
		(o.MessageBytesMax == nil || *o.MessageBytesMax == q.MessageBytesMax)
}

const (
	sqlCreateQueue = `select weir.create_queue($1, lanes => $2, message_bytes_max => $3)`
	sqlDropQueue   = `select weir.drop_queue($1)`
	sqlListQueues  = `select queue_name, lanes, message_bytes_max, created_at from weir.list_queues() order by queue_name`
)

// CreateQueue makes a queue, and in it the group `default`.
func (c *Client) CreateQueue(ctx context.Context, queue string, opt QueueOptions) error {
	return c.exec(ctx, "create queue", sqlCreateQueue, queue, orDefault(opt.Lanes, DefaultLanes),
		orDefault(opt.MessageBytesMax, DefaultMessageBytesMax))
}

// DropQueue removes a queue with its groups and all its messages.
func (c *Client) DropQueue(ctx context.Context, queue string) error {
	return c.exec(ctx, "drop queue", sqlDropQueue, queue)
}

// ListQueues returns all queues by name.
func (c *Client) ListQueues(ctx context.Context) ([]Queue, error) {
	return collect(ctx, c, "list queues", sqlListQueues, func(q *Queue) []any {
		return []any{&q.Name, &q.Lanes, &q.MessageBytesMax, (*utc)(&q.CreatedAt)}
	})
}

// Queue returns the description of one queue.
func (c *Client) Queue(ctx context.Context, queue string) (Queue, error) {
	list, err := c.ListQueues(ctx)
	if err != nil {
		return Queue{}, err
	}
	for _, q := range list {
		if q.Name == queue {
			return q, nil
		}
	}
	return Queue{}, newError(CodeQueueNotFound, fmt.Sprintf("there is no queue %q", queue),
		fmt.Sprintf("weir.create_queue('%s') makes it", queue))
}

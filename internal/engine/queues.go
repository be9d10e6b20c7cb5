package engine

import (
	"context"
	"fmt"
	"time"
)

// Queue describes a queue.
type Queue struct {
	Name            string    `json:"queue"`
	Log             string    `json:"log" doc:"The log that keeps its messages."`
	Lanes           int       `json:"lanes" doc:"In so many parts its keys are shared out."`
	MessageBytesMax int       `json:"message_bytes_max" doc:"The largest message, payload and headers, as stored."`
	Priorities      int       `json:"priorities" doc:"Levels of priority of messages without keys."`
	Aging           Millis    `json:"aging_ms" doc:"How much longer a message must wait to go before one a level higher."`
	TTL             Millis    `json:"ttl_ms" doc:"What was sent longer ago is not delivered any more; 0 for ever."`
	DedupWindow     Millis    `json:"dedup_window_ms" doc:"How long a dedup key counts; 0: the queue takes none."`
	BacklogMax      int64     `json:"backlog_max" doc:"How far the slowest group may be behind; 0 is no limit."`
	JobRetention    Millis    `json:"job_retention_ms" doc:"How long what happened to tracked jobs is kept."`
	Paused          bool      `json:"paused" doc:"Whether the whole queue is paused."`
	CreatedAt       time.Time `json:"created_at"`
	MovingFrom      *string   `json:"moving_from,omitempty" doc:"The log from which it is moving to the other."`
}

// QueueSettings are what a queue is told when it is made or later. Nil says nothing: a new queue gets what the engine
// does unless told, and one that is there keeps what it has.
type QueueSettings struct {
	Lanes           *int    `json:"lanes,omitempty" doc:"1 to 256 parts that keys are shared out in; 16 if new."`
	MessageBytesMax *int    `json:"message_bytes_max,omitempty" doc:"Largest message as stored; 1048576 in a new queue."`
	Aging           *Millis `json:"aging_ms,omitempty" doc:"Head start of the next higher priority; 60000 if new."`
	TTL             *Millis `json:"ttl_ms,omitempty" doc:"What was sent longer ago is not delivered; 0: for ever."`
	DedupWindow     *Millis `json:"dedup_window_ms,omitempty" doc:"How long a dedup key counts; 300000 in a new queue."`
	BacklogMax      *int64  `json:"backlog_max,omitempty" doc:"How far the slowest group may be behind; 0: no limit."`
	JobRetention    *Millis `json:"job_retention_ms,omitempty" doc:"How long ended tracked jobs can be asked for; 1 day."`
}

// QueueOptions are what CreateQueue may be told. What is nil matches whatever is there.
type QueueOptions struct {
	// Ordered is about the group default.
	Ordered *bool `json:"ordered,omitempty" doc:"Whether the group default keeps messages of one key in order."`
	// Log cannot be changed here: see MoveQueue.
	Log *string `json:"log,omitempty" doc:"The log that keeps its messages, made when it is not there; main."`
	// Priorities cannot be changed later.
	Priorities *int `json:"priorities,omitempty" doc:"Levels of priority, 1 to 8; 1 unless given."`

	QueueSettings
}

const (
	sqlCreateQueue = `select weir.create_queue($1, ordered => $2, log => $3, lanes => $4, message_bytes_max => $5,
		priorities => $6, aging => $7, ttl => $8, dedup_window => $9, backlog_max => $10, job_retention => $11)`
	sqlConfigureQueue = `select weir.configure_queue($1, lanes => $2, message_bytes_max => $3, aging => $4, ttl => $5,
		dedup_window => $6, backlog_max => $7, job_retention => $8)`
	sqlRenameQueue = `select weir.rename_queue($1, $2)`
	sqlMoveQueue   = `select weir.move_queue($1, $2)`
	sqlDropQueue   = `select weir.drop_queue($1)`
	sqlListQueues  = `select queue_name, log, lanes, message_bytes_max, priorities, aging, ttl, dedup_window,
		coalesce(backlog_max, 0), job_retention, paused, created_at,
		moving_from from weir.list_queues() order by queue_name`
)

// CreateQueue makes a queue, and in it the group `default`, and reports whether it did: not when a queue with these
// settings is there.
func (c *Client) CreateQueue(ctx context.Context, queue string, opt QueueOptions) (bool, error) {
	return one[bool](ctx, c, "create queue", sqlCreateQueue, queue, opt.Ordered, opt.Log, opt.Lanes,
		opt.MessageBytesMax, opt.Priorities, opt.Aging, opt.TTL, opt.DedupWindow, opt.BacklogMax, opt.JobRetention)
}

// ConfigureQueue changes settings of a queue that is in use.
func (c *Client) ConfigureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return c.exec(ctx, "configure queue", sqlConfigureQueue, queue, s.Lanes, s.MessageBytesMax, s.Aging, s.TTL,
		s.DedupWindow, s.BacklogMax, s.JobRetention)
}

// RenameQueue gives a queue another name.
func (c *Client) RenameQueue(ctx context.Context, queue, name string) error {
	return c.exec(ctx, "rename queue", sqlRenameQueue, queue, name)
}

// MoveQueue moves a queue that is in use to another log: new messages go there, and each group finishes the old one
// first.
func (c *Client) MoveQueue(ctx context.Context, queue, log string) error {
	return c.exec(ctx, "move queue", sqlMoveQueue, queue, log)
}

// DropQueue removes a queue with its groups and all its messages.
func (c *Client) DropQueue(ctx context.Context, queue string) error {
	return c.exec(ctx, "drop queue", sqlDropQueue, queue)
}

// ListQueues returns all queues by name.
func (c *Client) ListQueues(ctx context.Context) ([]Queue, error) {
	return collect(ctx, c, "list queues", sqlListQueues, func(q *Queue) []any {
		return []any{
			&q.Name, &q.Log, &q.Lanes, &q.MessageBytesMax, &q.Priorities, &q.Aging, &q.TTL, &q.DedupWindow,
			&q.BacklogMax, &q.JobRetention, &q.Paused, (*utc)(&q.CreatedAt),
		}
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
	if err := c.exec(ctx, "show queue", sqlListGroups, queue); err != nil { // the engine says how to make it
		return Queue{}, err
	}
	return Queue{}, NewError(CodeQueueNotFound, fmt.Sprintf("there is no queue %q", queue), "")
}

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
	SegmentBytes    int64     `json:"segment_bytes" doc:"Size at which a segment of the log is closed."`
	ClaimsBytes     int64     `json:"claims_bytes" doc:"Size at which a table of the claim log is left."`
	Priorities      int       `json:"priorities" doc:"Levels of priority, each with so many lanes."`
	Aging           Millis    `json:"aging_ms" doc:"How much longer a message must wait to go before one a level higher."`
	TTL             Millis    `json:"ttl_ms" doc:"What was sent longer ago is not delivered any more; 0 for ever."`
	Retention       Millis    `json:"retention_ms" doc:"How long what all groups have finished is kept at least."`
	DedupWindow     Millis    `json:"dedup_window_ms" doc:"How long a dedup key counts; 0: the queue takes none."`
	BacklogMax      int64     `json:"backlog_max" doc:"How far the slowest group may be behind; 0 is no limit."`
	JobRetention    Millis    `json:"job_retention_ms" doc:"How long what happened to tracked jobs is kept."`
	Paused          bool      `json:"paused" doc:"Whether the whole queue is paused."`
	CreatedAt       time.Time `json:"created_at"`
}

// QueueSettings are what a queue is told when it is made or later. Nil says nothing: a new queue gets what the engine
// does unless told, and one that is there keeps what it has.
type QueueSettings struct {
	MessageBytesMax *int   `json:"message_bytes_max,omitempty" doc:"Largest message as stored; 1048576 in a new queue."`
	SegmentBytes    *int64 `json:"segment_bytes,omitempty" doc:"Size that closes a log segment; 67108864 in a new queue."`
	ClaimsBytes     *int64 `json:"claims_bytes,omitempty" doc:"Size of a claim log table; 16777216 in a new queue."`

	DedupWindow *Millis `json:"dedup_window_ms,omitempty" doc:"How long a dedup key counts; 300000 in a new queue."`
	BacklogMax  *int64  `json:"backlog_max,omitempty" doc:"How far the slowest group may be behind; 0: no limit."`

	Aging     *Millis `json:"aging_ms,omitempty" doc:"How much longer to wait to go before a higher priority; 60000."`
	TTL       *Millis `json:"ttl_ms,omitempty" doc:"What was sent longer ago is not delivered; 0, the default: for ever."`
	Retention *Millis `json:"retention_ms,omitempty" doc:"How long what all groups have finished is kept; 0 unless given."`

	JobRetention *Millis `json:"job_retention_ms,omitempty" doc:"How long ended tracked jobs can be asked for; 1 day."`
}

// QueueOptions are what CreateQueue may be told.
type QueueOptions struct {
	Lanes *int `json:"lanes,omitempty" doc:"How many lanes; 16 unless given, 1 for a total order."`
	// Priorities cannot be changed later.
	Priorities *int `json:"priorities,omitempty" doc:"Levels of priority, 1 to 8; 1 unless given."`

	QueueSettings
}

const (
	sqlCreateQueue = `select weir.create_queue($1, lanes => $2, message_bytes_max => $3, segment_bytes => $4,
		claims_bytes => $5, priorities => $6, aging => $7, ttl => $8, retention => $9,
		dedup_window => $10, backlog_max => $11, job_retention => $12)`
	sqlConfigureQueue = `select weir.configure_queue($1, message_bytes_max => $2, segment_bytes => $3,
		claims_bytes => $4, aging => $5, ttl => $6, retention => $7, dedup_window => $8, backlog_max => $9,
		job_retention => $10)`
	sqlRenameQueue = `select weir.rename_queue($1, $2)`
	sqlDropQueue   = `select weir.drop_queue($1)`
	sqlListQueues  = `select queue_name, lanes, message_bytes_max, segment_bytes, claims_bytes, priorities, aging, ttl,
		retention, dedup_window, coalesce(backlog_max, 0), job_retention, paused, created_at
		from weir.list_queues() order by queue_name`
)

// CreateQueue makes a queue, and in it the group `default`.
func (c *Client) CreateQueue(ctx context.Context, queue string, opt QueueOptions) error {
	return c.exec(ctx, "create queue", sqlCreateQueue, queue, orDefault(opt.Lanes, DefaultLanes),
		orDefault(opt.MessageBytesMax, DefaultMessageBytesMax), orDefault(opt.SegmentBytes, DefaultSegmentBytes),
		orDefault(opt.ClaimsBytes, DefaultClaimsBytes), orDefault(opt.Priorities, DefaultPriorities),
		orDefault(opt.Aging, Millis(DefaultAging)), orDefault(opt.TTL, 0), orDefault(opt.Retention, 0),
		dedupWindow(opt.DedupWindow), opt.BacklogMax,
		orDefault(opt.JobRetention, Millis(DefaultJobRetention)))
}

// dedupWindow is the window of a new queue: SQL null, where 0 says that it takes no dedup keys.
func dedupWindow(given *Millis) *Millis {
	window := orDefault(given, Millis(DefaultDedupWindow))
	if window == 0 {
		return nil
	}
	return &window
}

// ConfigureQueue changes settings of a queue that is in use.
func (c *Client) ConfigureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return c.exec(ctx, "configure queue", sqlConfigureQueue, queue, s.MessageBytesMax, s.SegmentBytes, s.ClaimsBytes,
		s.Aging, s.TTL, s.Retention, s.DedupWindow, s.BacklogMax, s.JobRetention)
}

// RenameQueue gives a queue another name.
func (c *Client) RenameQueue(ctx context.Context, queue, name string) error {
	return c.exec(ctx, "rename queue", sqlRenameQueue, queue, name)
}

// DropQueue removes a queue with its groups and all its messages.
func (c *Client) DropQueue(ctx context.Context, queue string) error {
	return c.exec(ctx, "drop queue", sqlDropQueue, queue)
}

// ListQueues returns all queues by name.
func (c *Client) ListQueues(ctx context.Context) ([]Queue, error) {
	return collect(ctx, c, "list queues", sqlListQueues, func(q *Queue) []any {
		return []any{
			&q.Name, &q.Lanes, &q.MessageBytesMax, &q.SegmentBytes, &q.ClaimsBytes, &q.Priorities, &q.Aging, &q.TTL,
			&q.Retention, &q.DedupWindow, &q.BacklogMax, &q.JobRetention, &q.Paused, (*utc)(&q.CreatedAt),
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

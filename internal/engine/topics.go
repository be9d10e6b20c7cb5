package engine

import (
	"context"
	"time"
)

// Binding says that messages of some topics go to a queue.
type Binding struct {
	Pattern   string    `json:"pattern" doc:"Words and dots; * is any one word, # any number of words."`
	Queue     string    `json:"queue"`
	CreatedAt time.Time `json:"created_at"`
}

// Published is a message that a topic led to a queue.
type Published struct {
	Queue    string `json:"queue"`
	ID       int64  `json:"id"`
	Repeated bool   `json:"repeated,omitempty" doc:"The queue had it before, with the same dedup key."`
}

// PublishedBatch is what a topic led to a queue of several messages.
type PublishedBatch struct {
	Queue    string
	IDs      []int64 // one a message
	Repeated []bool  // likewise: the queue had it before, with the same dedup key
}

const (
	sqlBind         = `select weir.bind($1, $2)`
	sqlUnbind       = `select weir.unbind($1, $2)`
	sqlListBindings = `select pattern, queue_name, created_at from weir.list_bindings() order by pattern, queue_name`
	sqlRoute        = `select weir.route($1)`
	sqlPublish      = `select queue_name, id, repeated from weir.publish($1, $2, key => $3, headers => $4,
		delay => $5, dedup_key => $6, priority => $7)`
	sqlPublishBatch = `select queue_name, ids, repeated from weir.publish_batch($1, $2, keys => $3, headers => $4,
		delay => $5, priority => $6, dedup_keys => $7, bodies => $8)`
)

// Bind sends the messages of the topics that a pattern covers to a queue.
func (c *Client) Bind(ctx context.Context, pattern, queue string) error {
	return c.exec(ctx, "bind topic", sqlBind, pattern, queue)
}

// Unbind removes a binding and reports whether it was there.
func (c *Client) Unbind(ctx context.Context, pattern, queue string) (bool, error) {
	return one[bool](ctx, c, "unbind topic", sqlUnbind, pattern, queue)
}

// ListBindings returns all bindings by pattern and queue.
func (c *Client) ListBindings(ctx context.Context) ([]Binding, error) {
	return collect(ctx, c, "list bindings", sqlListBindings, func(b *Binding) []any {
		return []any{&b.Pattern, &b.Queue, (*utc)(&b.CreatedAt)}
	})
}

// Route returns the queues that Publish would send messages of a topic to.
func (c *Client) Route(ctx context.Context, topic string) ([]string, error) {
	return collect(ctx, c, "route topic", sqlRoute, func(queue *string) []any { return []any{queue} }, topic)
}

// Publish sends a message to every queue that has a binding for the topic, to all or to none.
func (c *Client) Publish(ctx context.Context, topic string, m Outgoing, opt SendOptions) ([]Published, error) {
	return collect(ctx, c, "publish message", sqlPublish, func(p *Published) []any {
		return []any{&p.Queue, &p.ID, &p.Repeated}
	}, topic, m.Payload, m.Key, m.Headers, opt.delay(), m.DedupKey, opt.Priority)
}

// PublishBatch sends messages to every queue that has a binding for the topic, all to all or nothing.
func (c *Client) PublishBatch(
	ctx context.Context, topic string, batch []Outgoing, opt SendOptions,
) ([]PublishedBatch, error) {
	return collect(ctx, c, "publish messages", sqlPublishBatch, func(p *PublishedBatch) []any {
		return []any{&p.Queue, &p.IDs, &p.Repeated}
	}, arrays(topic, batch, opt)...)
}

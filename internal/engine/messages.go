package engine

import (
	"context"
	"encoding/json"
)

const (
	sqlSend      = `select weir.send($1, $2, key => $3, headers => $4, delay => $5, priority => $6)`
	sqlSendBatch = `select weir.send_batch($1, $2, keys => $3, headers => $4, delay => $5, priority => $6)`
)

// Send appends one message to a queue and returns its id.
func (c *Client) Send(ctx context.Context, queue string, m Outgoing, opt SendOptions) (int64, error) {
	return one[int64](ctx, c, "send message", sqlSend, queue, m.Payload, m.Key, m.Headers, opt.delay(),
		opt.Priority)
}

// SendBatch appends messages in their order, all or none, and returns their ids in the same order.
func (c *Client) SendBatch(ctx context.Context, queue string, batch []Outgoing, opt SendOptions) ([]int64, error) {
	payloads := make([]json.RawMessage, len(batch))
	var keys []*string
	var headers []json.RawMessage
	for i, m := range batch {
		payloads[i] = m.Payload
		if m.Key != nil && keys == nil {
			keys = make([]*string, len(batch))
		}
		if m.Headers != nil && headers == nil {
			headers = make([]json.RawMessage, len(batch))
		}
		if m.Key != nil {
			keys[i] = m.Key
		}
		if m.Headers != nil {
			headers[i] = m.Headers
		}
	}
	return collect(ctx, c, "send messages", sqlSendBatch, func(id *int64) []any { return []any{id} },
		queue, payloads, keys, headers, opt.delay(), opt.Priority)
}

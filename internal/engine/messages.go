package engine

import (
	"context"
	"encoding/json"
)

const (
	sqlSend      = `select weir.send($1, $2, key => $3, headers => $4, delay => $5, priority => $6, dedup_key => $7)`
	sqlSendBatch = `select weir.send_batch($1, $2, keys => $3, headers => $4, delay => $5, priority => $6,
		dedup_keys => $7)`
	sqlSendOnce = `select id, repeated from weir.send_once($1, $2, keys => $3, headers => $4, delay => $5,
		priority => $6, dedup_keys => $7)`
)

// Send appends one message to a queue and returns its id; a repeat's is the first one's.
func (c *Client) Send(ctx context.Context, queue string, m Outgoing, opt SendOptions) (int64, error) {
	return one[int64](ctx, c, "send message", sqlSend, queue, m.Payload, m.Key, m.Headers, opt.delay(),
		opt.Priority, m.DedupKey)
}

// SendBatch appends messages in their order, all or none, and returns their ids in the same order; a repeat's is the
// first one's.
func (c *Client) SendBatch(ctx context.Context, queue string, batch []Outgoing, opt SendOptions) ([]int64, error) {
	return collect(ctx, c, "send messages", sqlSendBatch, func(id *int64) []any { return []any{id} },
		arrays(queue, batch, opt)...)
}

// SendOnce is SendBatch that tells which messages were repeats, and so not sent.
func (c *Client) SendOnce(ctx context.Context, queue string, batch []Outgoing, opt SendOptions) ([]Sent, error) {
	return collect(ctx, c, "send messages", sqlSendOnce, func(s *Sent) []any { return []any{&s.ID, &s.Repeated} },
		arrays(queue, batch, opt)...)
}

// arrays are the arguments of a call that sends a batch. What no message has is null.
func arrays(queue string, batch []Outgoing, opt SendOptions) []any {
	payloads := make([]json.RawMessage, len(batch))
	var keys, dedupKeys []*string
	var headers []json.RawMessage
	for i, m := range batch {
		payloads[i] = m.Payload
		keys = put(keys, len(batch), i, m.Key, m.Key != nil)
		dedupKeys = put(dedupKeys, len(batch), i, m.DedupKey, m.DedupKey != nil)
		headers = put(headers, len(batch), i, m.Headers, m.Headers != nil)
	}
	return []any{queue, payloads, keys, headers, opt.delay(), opt.Priority, dedupKeys}
}

// put sets element i of a list that is made, of n elements, when the first value comes.
func put[T any](list []T, n, i int, value T, there bool) []T {
	if !there {
		return list
	}
	if list == nil {
		list = make([]T, n)
	}
	list[i] = value
	return list
}

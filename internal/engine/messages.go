package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	sqlSend      = `select weir.send($1, $2, key => $3, headers => $4, delay => $5, priority => $6, dedup_key => $7)`
	sqlSendBatch = `select weir.send_batch($1, $2, keys => $3, headers => $4, delay => $5, priority => $6,
		dedup_keys => $7, bodies => $8)`
	sqlSendOnce = `select id, repeated from weir.send_once($1, $2, keys => $3, headers => $4, delay => $5,
		priority => $6, dedup_keys => $7, bodies => $8)`
	sqlLockTimeout = `select set_config('lock_timeout', $1, true)`
	sqlAsync       = `select set_config('synchronous_commit', 'off', true)`
	sqlFlush       = `select pg_logical_emit_message(true, 'weir', ''::text)`
)

// Send appends one message to a queue and returns its id; a repeat's is the first one's.
func (c *Client) Send(ctx context.Context, queue string, m Outgoing, opt SendOptions) (int64, error) {
	if m.Body != nil {
		return one[int64](ctx, c, "send message", sqlSendBatch, arrays(queue, []Outgoing{m}, opt)...)
	}
	return one[int64](ctx, c, "send message", sqlSend, queue, m.Payload, m.Key, m.Headers, opt.delay(),
		opt.Priority, m.DedupKey)
}

// SendBatch appends messages in their order, all or none, and returns their ids in the same order; a repeat's is the
// first one's.
func (c *Client) SendBatch(ctx context.Context, queue string, batch []Outgoing, opt SendOptions) ([]int64, error) {
	return collect(ctx, c, "send messages", sqlSendBatch, idField, arrays(queue, batch, opt)...)
}

func idField(id *int64) []any { return []any{id} }

// SendBatchAhead is SendBatch that does not wait until the messages are durable: they can be received, but only once
// Flush has returned may anybody be told that they were sent.
func (c *Client) SendBatchAhead(
	ctx context.Context, queue string, batch []Outgoing, opt SendOptions,
) ([]int64, error) {
	var calls pgx.Batch
	calls.Queue(sqlAsync)
	calls.Queue(sqlSendBatch, saturated(arrays(queue, batch, opt))...)
	return afterSetting(ctx, c, &calls, idField)
}

// afterSetting makes two calls in one transaction, of which the first is a setting and the second sends.
func afterSetting[T any](ctx context.Context, c *Client, calls *pgx.Batch, fields func(*T) []any) ([]T, error) {
	results := c.q.SendBatch(ctx, calls)
	list, err := func() ([]T, error) {
		if _, err := results.Exec(); err != nil {
			return nil, wrap("send messages", err)
		}
		rows, err := results.Query()
		if err != nil {
			return nil, wrap("send messages", err)
		}
		return collectRows("send messages", rows, fields)
	}()
	if end := results.Close(); err == nil { // only now it is committed
		err = wrap("send messages", end)
	}
	return list, err
}

// Flush waits until all that was committed before is durable, as synchronous_commit says: it commits a record of its
// own, which logical decoding shows as a message of "weir". However it fails, what was committed may be there, so that
// the error is that of a connection that broke: who gets another might send it again.
func (c *Client) Flush(ctx context.Context) error {
	err := c.exec(ctx, "flush messages", sqlFlush)
	if err == nil {
		return nil
	}
	return &Error{
		Code: codeConnection, Name: "connection_failure",
		Message: "it is unknown whether the messages are durable",
		Hint:    "Look whether they are there before they are sent again, or send them with dedup keys.",
		Status:  http.StatusServiceUnavailable, Retryable: true, reason: err.Error(), err: err,
	}
}

// SendOnce is SendBatch that tells which messages were repeats, and so not sent.
func (c *Client) SendOnce(ctx context.Context, queue string, batch []Outgoing, opt SendOptions) ([]Sent, error) {
	return collect(ctx, c, "send messages", sqlSendOnce, (*Sent).fields,
		arrays(queue, batch, opt)...)
}

// SendOnceWithin is SendOnce that fails with SQLSTATE 55P03 rather than wait longer than so for another transaction
// that is sending one of the dedup keys.
func (c *Client) SendOnceWithin(
	ctx context.Context, wait time.Duration, queue string, batch []Outgoing, opt SendOptions,
) ([]Sent, error) {
	var calls pgx.Batch
	calls.Queue(sqlLockTimeout, strconv.FormatInt(wait.Milliseconds(), 10))
	calls.Queue(sqlSendOnce, saturated(arrays(queue, batch, opt))...)
	return afterSetting(ctx, c, &calls, (*Sent).fields)
}

// fields are the places for the columns of sqlSendOnce.
func (s *Sent) fields() []any { return []any{&s.ID, &s.Repeated} }

// arrays are the arguments of a call that sends a batch. What no message has is null.
func arrays(queue string, batch []Outgoing, opt SendOptions) []any {
	payloads := make([]json.RawMessage, len(batch))
	var keys, dedupKeys []*string
	var headers []json.RawMessage
	var bodies [][]byte
	for i, m := range batch {
		payloads[i] = m.Payload
		keys = put(keys, len(batch), i, m.Key, m.Key != nil)
		dedupKeys = put(dedupKeys, len(batch), i, m.DedupKey, m.DedupKey != nil)
		headers = put(headers, len(batch), i, m.Headers, m.Headers != nil)
		bodies = put(bodies, len(batch), i, m.Body, m.Body != nil)
	}
	return []any{queue, payloads, keys, headers, opt.delay(), opt.Priority, dedupKeys, bodies}
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

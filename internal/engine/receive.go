package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	sqlReceiveRecords = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times, bodies from weir.receive_records($1, $2, max => $3, lease => $4)`
	sqlPopRecords = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times, bodies from weir.pop_records($1, $2, max => $3)`
	sqlPeekRecords = `select 0::bigint, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times, bodies from weir.peek_records($1, $2, max => $3)`
	sqlGet = `select id, key, payload_text, headers, enqueued_at, states, details,
		case when payload_text is null then body end from weir.get($1, $2)`
	sqlGetMany = `select id, key, payload_text, headers, enqueued_at, states, details,
		case when payload_text is null then body end from weir.get_many($1, $2)`
)

// Receive claims up to n messages for the length of a lease. An empty result means that nothing is due.
//
// It asks for records, which the engine need not take apart, and takes them apart here: for a claim of many messages
// that is most of the work.
func (c *Client) Receive(ctx context.Context, queue, group string, n int, lease time.Duration) ([]Message, error) {
	return c.messages(ctx, "receive messages", sqlReceiveRecords, queue, group, n, lease)
}

// messages runs a statement that gives records and takes them apart.
func (c *Client) messages(ctx context.Context, doing, sql string, args ...any) ([]Message, error) {
	records, err := collect(ctx, c, doing, sql, (*record).fields, args...)
	if err != nil {
		return nil, err
	}
	list := []Message{}
	for _, r := range records {
		if list, err = r.appendTo(list); err != nil {
			return nil, wrap(doing, err)
		}
	}
	return list, nil
}

// record is a weir.message_record: several messages of one claim, where what they share is said once.
type record struct {
	claimID       int64
	n             int
	firstID       *int64
	ids           []int64
	attempt       *int
	attempts      []int
	keys          []*string
	payloads      []json.RawMessage // nil of a message that has a body
	headers       []json.RawMessage
	enqueuedAt    *time.Time
	enqueuedTimes []time.Time
	bodies        [][]byte
}

// fields are the places for the columns of sqlReceiveRecords.
func (r *record) fields() []any {
	return []any{
		&r.claimID, &r.n, &r.firstID, &r.ids, &r.attempt, &r.attempts, &r.keys, &r.payloads, &r.headers, &r.enqueuedAt,
		&r.enqueuedTimes, &r.bodies,
	}
}

// appendTo takes the record apart.
func (r *record) appendTo(list []Message) ([]Message, error) {
	if !r.whole() {
		return nil, NewError(CodeEngineCorrupt,
			fmt.Sprintf("claim %d has a record whose parts do not fit together", r.claimID), "")
	}
	for i := range r.n {
		m := Message{ClaimID: r.claimID, Payload: r.payloads[i]}
		if r.ids != nil {
			m.ID = r.ids[i]
		} else {
			m.ID = *r.firstID + int64(i)
		}
		if r.attempts != nil {
			m.Attempt = r.attempts[i]
		} else {
			m.Attempt = *r.attempt
		}
		if r.keys != nil {
			m.Key = r.keys[i]
		}
		if r.headers != nil {
			m.Headers = r.headers[i]
		}
		if r.enqueuedTimes != nil {
			m.EnqueuedAt = r.enqueuedTimes[i].UTC()
		} else {
			m.EnqueuedAt = r.enqueuedAt.UTC()
		}
		if r.bodies != nil {
			m.Body = r.bodies[i]
		}
		list = append(list, m)
	}
	return list, nil
}

// whole reports whether every message of the record has all its parts.
func (r *record) whole() bool {
	fits := func(length int, absent, optional bool) bool { return absent && optional || length == r.n }
	return fits(len(r.payloads), false, false) &&
		fits(len(r.ids), r.ids == nil, r.firstID != nil) &&
		fits(len(r.attempts), r.attempts == nil, r.attempt != nil) &&
		fits(len(r.keys), r.keys == nil, true) &&
		fits(len(r.headers), r.headers == nil, true) &&
		fits(len(r.enqueuedTimes), r.enqueuedTimes == nil, r.enqueuedAt != nil) &&
		fits(len(r.bodies), r.bodies == nil, true)
}

// Pop takes up to n messages and finishes them at once: at most once delivery.
func (c *Client) Pop(ctx context.Context, queue, group string, n int) ([]Message, error) {
	return c.messages(ctx, "pop messages", sqlPopRecords, queue, group, n)
}

// Peek shows up to n messages that a receive might get, without claiming them.
func (c *Client) Peek(ctx context.Context, queue, group string, n int) ([]Peeked, error) {
	messages, err := c.messages(ctx, "peek at messages", sqlPeekRecords, queue, group, n)
	if err != nil {
		return nil, err
	}
	list := make([]Peeked, len(messages))
	for i, m := range messages {
		list[i] = Peeked{
			ID: m.ID, Attempt: m.Attempt, Key: m.Key, Payload: m.Payload, Body: m.Body, Headers: m.Headers,
			EnqueuedAt: m.EnqueuedAt,
		}
	}
	return list, nil
}

// Get shows one message, wherever in the queue it is, and how each group stands to it.
func (c *Client) Get(ctx context.Context, queue string, id int64) (Stored, error) {
	list, err := collect(ctx, c, "get message", sqlGet, (*Stored).fields, queue, id)
	if err != nil {
		return Stored{}, err
	}
	if len(list) == 0 {
		return Stored{}, NewError(CodeMessageNotFound, fmt.Sprintf("queue %q does not hold message %d", queue, id),
			"It never did, or all groups have finished it and the queue's retention is over.")
	}
	return list[0], nil
}

// GetMany shows those of several messages that the queue holds, in the order of the ids.
func (c *Client) GetMany(ctx context.Context, queue string, ids []int64) ([]Stored, error) {
	return collect(ctx, c, "get messages", sqlGetMany, (*Stored).fields, queue, ids)
}

// fields are the places for the columns of a weir.stored_message.
func (m *Stored) fields() []any {
	return []any{&m.ID, &m.Key, &m.Payload, &m.Headers, (*utc)(&m.EnqueuedAt), &m.States, &m.Details, &m.Body}
}

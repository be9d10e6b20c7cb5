package weir

import (
	"encoding/json"
	"fmt"
	"time"
)

// messageRow is a weir.message.
type messageRow struct {
	id, claim  int64
	attempt    int
	key        *string
	payload    *string
	headers    *string
	enqueuedAt time.Time
	body       []byte
}

// fields are the places for the columns.
func (r *messageRow) fields() []any {
	return []any{&r.id, &r.claim, &r.attempt, &r.key, &r.payload, &r.headers, &r.enqueuedAt, &r.body}
}

// messagesOf turns rows into messages.
func messagesOf(queue, group string, rows []messageRow, err error) ([]*RawMessage, error) {
	messages := make([]*RawMessage, 0, len(rows))
	for _, r := range rows {
		m := &RawMessage{
			ID: r.id, ClaimID: r.claim, Attempt: r.attempt, Payload: rawOf(r.payload), Body: r.body,
			EnqueuedAt: r.enqueuedAt.UTC(), Queue: queue, Group: group,
		}
		if r.key != nil {
			m.Key = *r.key
		}
		if r.headers != nil {
			if err := json.Unmarshal([]byte(*r.headers), &m.Headers); err != nil {
				return nil, fmt.Errorf("read headers of message %d: %w", r.id, err)
			}
		}
		messages = append(messages, m)
	}
	return messages, err
}

// record is a weir.message_record: several messages of one claim, where what they share is said once.
type record struct {
	claim         int64
	n             int
	firstID       *int64
	ids           []int64
	attempt       *int
	attempts      []int
	keys          []*string
	payloads      [][]byte // JSON; nil of a message that has a body
	headers       [][]byte
	enqueuedAt    *time.Time
	enqueuedTimes []time.Time
	bodies        [][]byte
}

// fields are the places for the columns of sqlReceiveRecords.
func (r *record) fields() []any {
	return []any{
		&r.claim, &r.n, &r.firstID, &r.ids, &r.attempt, &r.attempts, &r.keys, &r.payloads, &r.headers, &r.enqueuedAt,
		&r.enqueuedTimes, &r.bodies,
	}
}

// appendTo takes the record apart. One block of memory holds its messages.
func (r *record) appendTo(messages []*RawMessage, queue, group string) ([]*RawMessage, error) {
	if !r.whole() {
		return nil, fmt.Errorf("receive messages: claim %d: %w", r.claim, errRecord)
	}
	block := make([]RawMessage, r.n)
	for i := range block {
		m := &block[i]
		m.ClaimID, m.Payload, m.Queue, m.Group = r.claim, r.payloads[i], queue, group
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
		if r.keys != nil && r.keys[i] != nil {
			m.Key = *r.keys[i]
		}
		if r.headers != nil && r.headers[i] != nil {
			if err := json.Unmarshal(r.headers[i], &m.Headers); err != nil {
				return nil, fmt.Errorf("read headers of message %d: %w", m.ID, err)
			}
		}
		if r.enqueuedTimes != nil {
			m.EnqueuedAt = r.enqueuedTimes[i].UTC()
		} else {
			m.EnqueuedAt = r.enqueuedAt.UTC()
		}
		if r.bodies != nil {
			m.Body = r.bodies[i]
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// whole reports whether every message of the record has all its parts.
func (r *record) whole() bool {
	fits := func(length int, mayMiss bool) bool { return length == r.n || length == 0 && mayMiss }
	return fits(len(r.payloads), false) && fits(len(r.ids), r.firstID != nil) &&
		fits(len(r.attempts), r.attempt != nil) && fits(len(r.keys), true) && fits(len(r.headers), true) &&
		fits(len(r.enqueuedTimes), r.enqueuedAt != nil) && fits(len(r.bodies), true)
}

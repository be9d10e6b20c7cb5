package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	sqlReceiveMany = `select (messages).n, (messages).first_id, (messages).ids, (messages).attempt, (messages).attempts,
		(messages).keys, (messages).payloads, (messages).headers, (messages).enqueued_at, (messages).enqueued_times,
		(messages).bodies, requests, claim_ids, counts
		from weir.receive_many($1, $2, maxes => $3, leases => $4)`
	sqlAckMany    = `select weir.ack_many($1, claim_ids => $2, ids => $3::text[]::int8multirange[], requests => $4)`
	sqlExtendMany = `select weir.extend_many($1, claim_ids => $2, leases => $3, requests => $4)`
	sqlSettleMany = `select weir.settle_many($1, verbs => $2, claim_ids => $3, ids => $4::text[]::int8multirange[],
		delays => $5, reasons => $6, requests => $7)`
	sqlFinishMany = `select weir.finish_many($1, claim_ids => $2, ids => $3, results => $4::text[]::jsonb[])`
	sqlRelease    = `select weir.release($1, $2, ids => $3)`
)

// Want is what one consumer of a ReceiveMany asks for.
type Want struct {
	Max   int
	Lease time.Duration
}

// ReceiveMany receives for many consumers in one call and returns what each of them gets, in the order of wants: a
// claim of its own for the length of its own lease. The first is served first.
func (c *Client) ReceiveMany(ctx context.Context, queue, group string, wants []Want) ([][]Message, error) {
	records, err := collect(ctx, c, "receive messages", sqlReceiveMany, (*sharedRecord).fields,
		wantArgs(queue, group, wants)...)
	if err != nil {
		return nil, err
	}
	return share(records, wants)
}

// wantArgs are the arguments of sqlReceiveMany.
func wantArgs(queue, group string, wants []Want) []any {
	maxes, leases := make([]int, len(wants)), make([]time.Duration, len(wants))
	for i, w := range wants {
		maxes[i], leases[i] = w.Max, w.Lease
	}
	return []any{queue, group, maxes, leases}
}

// share gives every consumer what it gets of some records.
func share(records []sharedRecord, wants []Want) ([][]Message, error) {
	shares := make([][]Message, len(wants))
	for _, r := range records {
		if err := r.appendTo(shares); err != nil {
			return nil, wrap("receive messages", err)
		}
	}
	return shares, nil
}

// sharedRecord is a record of which several consumers get a part.
type sharedRecord struct {
	record

	requests []int
	claims   []int64
	counts   []int
}

// fields are the places for the columns of sqlReceiveMany.
func (r *sharedRecord) fields() []any {
	return append(r.record.fields()[1:], &r.requests, &r.claims, &r.counts)
}

// appendTo gives every consumer its part.
func (r *sharedRecord) appendTo(shares [][]Message) error {
	list, err := r.record.appendTo(make([]Message, 0, r.n))
	if err != nil {
		return err
	}
	if len(r.claims) != len(r.requests) || len(r.counts) != len(r.requests) {
		return r.misshared()
	}
	for i, request := range r.requests {
		n := r.counts[i]
		if request < 1 || request > len(shares) || n < 1 || n > len(list) {
			return r.misshared()
		}
		for j := range list[:n] {
			list[j].ClaimID = r.claims[i]
		}
		shares[request-1] = append(shares[request-1], list[:n]...)
		list = list[n:]
	}
	if len(list) > 0 {
		return r.misshared()
	}
	return nil
}

func (r *sharedRecord) misshared() error {
	return NewError(CodeEngineCorrupt, fmt.Sprintf("a record of %d messages is shared out as %v", r.n, r.counts), "")
}

// ClaimPart is a claim, or messages of it, that one of many requests is about.
type ClaimPart struct {
	Claim   int64
	IDs     []int64       // messages of the claim; nil: all that are left
	Lease   time.Duration // of an extend
	Request int           // parts of one request are done together or not at all

	Verb   Verb           // of a SettleMany
	Delay  *time.Duration // of a nack or a snooze; nil: the group's backoff
	Reason *string        // of a nack or a reject
}

// Verb is what SettleMany does with messages of a claim.
type Verb string

// Each is the function of its name.
const (
	VerbNack    Verb = "nack"
	VerbRelease Verb = "release"
	VerbSnooze  Verb = "snooze"
	VerbReject  Verb = "reject"
)

// AckMany finishes what is plain to finish of many requests and returns how many messages for each part; nil where
// nothing was done, which Ack does or says why not.
func (c *Client) AckMany(ctx context.Context, queue string, parts []ClaimPart) ([]*int, error) {
	return one[[]*int](ctx, c, "ack messages", sqlAckMany, ackArgs(queue, parts)...)
}

// AckAndReceive is AckMany and ReceiveMany in one round trip and one transaction: both happen or, with an error, none.
func (c *Client) AckAndReceive(
	ctx context.Context, queue string, parts []ClaimPart, group string, wants []Want,
) (counts []*int, shares [][]Message, err error) {
	var calls pgx.Batch
	calls.Queue(sqlAckMany, saturated(ackArgs(queue, parts))...)
	calls.Queue(sqlReceiveMany, saturated(wantArgs(queue, group, wants))...)
	results := c.q.SendBatch(ctx, &calls)
	records, err := func() ([]sharedRecord, error) {
		if err := results.QueryRow().Scan(&counts); err != nil {
			return nil, wrap("ack messages", err)
		}
		rows, err := results.Query()
		if err != nil {
			return nil, wrap("receive messages", err)
		}
		return collectRows("receive messages", rows, (*sharedRecord).fields)
	}()
	if end := results.Close(); err == nil { // only now it is committed
		err = wrap("ack and receive messages", end)
	}
	if err != nil {
		return nil, nil, err
	}
	shares, err = share(records, wants)
	return counts, shares, err
}

// ackArgs are the arguments of sqlAckMany.
func ackArgs(queue string, parts []ClaimPart) []any {
	claims, requests := splitParts(parts)
	return []any{queue, claims, multiranges(parts), requests}
}

// multiranges are the ids of parts.
func multiranges(parts []ClaimPart) []string {
	ids := make([]string, len(parts))
	for i, p := range parts {
		ids[i] = allLeft
		if p.IDs != nil {
			ids[i] = multirange(p.IDs)
		}
	}
	return ids
}

// SettleMany nacks, releases, snoozes and rejects what is plain of many requests and returns how many messages for each
// part; nil where nothing was done, which the verb's own method does or says why not. It fails with SQLSTATE 55P03
// rather than wait longer than so for another transaction.
func (c *Client) SettleMany(
	ctx context.Context, wait time.Duration, queue string, parts []ClaimPart,
) ([]*int, error) {
	claims, requests := splitParts(parts)
	verbs := make([]string, len(parts))
	var delays []*time.Duration
	var reasons []*string
	for i, p := range parts {
		verbs[i] = string(p.Verb)
		delays = put(delays, len(parts), i, p.Delay, p.Delay != nil)
		reasons = put(reasons, len(parts), i, p.Reason, p.Reason != nil)
	}
	return c.within(ctx, "settle messages", wait, sqlSettleMany, queue, verbs, claims, multiranges(parts), delays, reasons,
		requests)
}

// within calls a function that tells how many messages were settled for each part. It fails with SQLSTATE 55P03 rather
// than wait longer than so for another transaction.
func (c *Client) within(ctx context.Context, doing string, wait time.Duration, sql string, args ...any) (
	counts []*int, err error,
) {
	var calls pgx.Batch
	calls.Queue(sqlLockTimeout, strconv.FormatInt(wait.Milliseconds(), 10))
	calls.Queue(sql, saturated(args)...)
	results := c.q.SendBatch(ctx, &calls)
	if _, err = results.Exec(); err == nil {
		err = results.QueryRow().Scan(&counts)
	}
	if end := results.Close(); err == nil { // only now it is committed
		err = end
	}
	return counts, wrap(doing, err)
}

// JobEnd is a job that is finished.
type JobEnd struct {
	Claim, ID int64
	Result    json.RawMessage // nil: none
}

// FinishMany finishes jobs and returns, for each, 1, or 0 when it was finished before; nil where nothing was done,
// which Finish does or says why not. It fails with SQLSTATE 55P03 rather than wait longer than so for another
// transaction.
func (c *Client) FinishMany(ctx context.Context, wait time.Duration, queue string, jobs []JobEnd) ([]*int, error) {
	claims, ids := make([]int64, len(jobs)), make([]int64, len(jobs))
	results := make([]*string, len(jobs))
	for i, j := range jobs {
		claims[i], ids[i] = j.Claim, j.ID
		if j.Result != nil {
			text := string(j.Result)
			results[i] = &text
		}
	}
	return c.within(ctx, "finish jobs", wait, sqlFinishMany, queue, claims, ids, results)
}

// ExtendMany gives what is plain to extend of many requests a new deadline and returns it for each part; nil where
// nothing was done, which Extend does or says why not.
func (c *Client) ExtendMany(ctx context.Context, queue string, parts []ClaimPart) ([]*time.Time, error) {
	claims, requests := splitParts(parts)
	leases := make([]time.Duration, len(parts))
	for i, p := range parts {
		leases[i] = p.Lease
	}
	return one[[]*time.Time](ctx, c, "extend claims", sqlExtendMany, queue, claims, leases, requests)
}

func splitParts(parts []ClaimPart) (claims []int64, requests []int) {
	claims, requests = make([]int64, len(parts)), make([]int, len(parts))
	for i, p := range parts {
		claims[i], requests[i] = p.Claim, p.Request
	}
	return claims, requests
}

// allLeft is the int8multirange that asks for all that is left of a claim.
const allLeft = "{(,)}"

// multirange is the text of the int8multirange of some ids. The largest bigint, which no message has, has no range: it
// is left to the engine as one that no claim holds.
func multirange(ids []int64) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('[')
		b.WriteString(strconv.FormatInt(id, 10))
		b.WriteByte(',')
		if id == 1<<63-1 {
			b.WriteString(")")
			continue
		}
		b.WriteString(strconv.FormatInt(id+1, 10))
		b.WriteByte(')')
	}
	b.WriteByte('}')
	return b.String()
}

// Release gives messages of a claim back unused: they are delivered again at once and this delivery is not counted.
func (c *Client) Release(ctx context.Context, queue string, claim int64, ids []int64) (int, error) {
	return one[int](ctx, c, "release messages", sqlRelease, queue, claim, ids)
}

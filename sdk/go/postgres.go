package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Every parameter is cast, so that the statements mean the same in all of pgx's ways to run them, prepared or not,
// and with other drivers. Those that end in With take what engines have learned since 0.1.0, and are used when it is
// asked for.
const (
	sqlSend = `select weir.send($1::text, $2::text::jsonb, key => $3::text, headers => $4::text::jsonb,
		delay => $5::text::interval)`
	sqlSendWith = `select weir.send($1::text, $2::text::jsonb, key => $3::text, headers => $4::text::jsonb,
		delay => $5::text::interval, priority => $6::int, dedup_key => $7::text)`
	sqlSendBatch = `select array(select weir.send_batch($1::text, $2::text[]::jsonb[], keys => $3::text[],
		headers => $4::text[]::jsonb[], delay => $5::text::interval))`
	sqlSendBatchWith = `select array(select weir.send_batch($1::text, $2::text[]::jsonb[], keys => $3::text[],
		headers => $4::text[]::jsonb[], delay => $5::text::interval, priority => $6::int, dedup_keys => $7::text[]))`
	sqlPublish = `select queue_name, id from weir.publish($1::text, $2::text::jsonb, key => $3::text,
		headers => $4::text::jsonb, delay => $5::text::interval)`
	sqlPublishWith = `select queue_name, id, repeated from weir.publish($1::text, $2::text::jsonb, key => $3::text,
		headers => $4::text::jsonb, delay => $5::text::interval, priority => $6::int, dedup_key => $7::text)`
	sqlReceive = `select id, coalesce(claim_id, 0), attempt, key, payload::text, headers::text, enqueued_at
		from weir.receive($1::text, $2::text, max => $3::int, lease => $4::text::interval)`
	sqlReceiveRecords = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times from weir.receive_records($1::text, $2::text, max => $3::int, lease => $4::text::interval)`
	sqlPop = `select id, coalesce(claim_id, 0), attempt, key, payload::text, headers::text, enqueued_at
		from weir.pop($1::text, $2::text, max => $3::int)`
	sqlPeek = `select id, coalesce(claim_id, 0), attempt, key, payload::text, headers::text, enqueued_at
		from weir.peek($1::text, $2::text, max => $3::int)`

	sqlAck  = `select weir.ack($1::text, c, ids => i::bigint[]) from unnest($2::bigint[], $3::text[]) as t (c, i)`
	sqlNack = `select weir.nack($1::text, c, ids => i::bigint[], delay => d::interval, reason => r)
		from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as t (c, i, d, r)`
	sqlReject = `select weir.reject($1::text, c, ids => i::bigint[], reason => r)
		from unnest($2::bigint[], $3::text[], $4::text[]) as t (c, i, r)`
	sqlRelease = `select weir.release($1::text, c, ids => i::bigint[])
		from unnest($2::bigint[], $3::text[]) as t (c, i)`
	sqlExtend = `select weir.extend($1::text, c, lease => $3::text::interval) from unnest($2::bigint[]) as t (c)`

	sqlDeadLetters = `select id, key, payload::text, headers::text, enqueued_at, attempts, died_at, reason
		from weir.dead_letters($1::text, $2::text, max => $3::int, after => $4::bigint)`
	sqlRedrive = `select weir.redrive($1::text, $2::text, ids => $3::bigint[])`
	sqlDiscard = `select weir.discard($1::text, $2::text, ids => $3::bigint[])`

	sqlMaintain = `select weir.maintain($1::text::interval)`
	sqlVersion  = `select weir.version()`
)

// postgres speaks to the engine's functions.
type postgres struct {
	executor

	records bool      // the driver reads arrays, so that a receive need not take its records apart in SQL
	ear     *ear      // nil where nothing can be heard
	own     *ownCalls // nil: all calls go through the public functions
}

// one reads the only value of the only row.
func one[T any](ctx context.Context, p *postgres, doing, text string, args ...any) (v T, err error) {
	err = p.query(ctx, text, args, func(scan func(...any) error) error { return scan(&v) })
	return v, wrap(doing, err)
}

// list reads one value of each row.
func list[T any](ctx context.Context, p *postgres, doing, text string, args ...any) ([]T, error) {
	return collect(ctx, p, doing, text, func(v *T) []any { return []any{v} }, args...)
}

// collect reads all rows; fields gives the places where the columns of one row go.
func collect[T any](
	ctx context.Context, p *postgres, doing, text string, fields func(*T) []any, args ...any,
) ([]T, error) {
	all := []T{}
	err := p.query(ctx, text, args, func(scan func(...any) error) error {
		var item T
		if err := scan(fields(&item)...); err != nil {
			return err
		}
		all = append(all, item)
		return nil
	})
	if err != nil {
		return nil, wrap(doing, err)
	}
	return all, nil
}

// do runs a statement whose result is of no interest.
func (p *postgres) do(ctx context.Context, doing, text string, args ...any) error {
	return wrap(doing, p.query(ctx, text, args, func(func(...any) error) error { return nil }))
}

func (p *postgres) send(ctx context.Context, queue string, batch []jsonMessage, o sendOptions) ([]int64, error) {
	if len(batch) == 1 {
		m := batch[0]
		args := []any{m.payload, m.key, m.headers, interval(o.delay)}
		if o.priority == nil && m.dedupKey == nil {
			return listOwn[int64](ctx, p, "send message", &callSend, queue, args...)
		}
		args = slices.Concat([]any{queue}, args, []any{o.priority, m.dedupKey})
		return list[int64](ctx, p, "send message", sqlSendWith, args...)
	}
	payloads := make([]string, len(batch))
	var keys, headers, dedupKeys []*string
	for i, m := range batch {
		payloads[i] = m.payload
		keys = put(keys, i, len(batch), m.key)
		headers = put(headers, i, len(batch), m.headers)
		dedupKeys = put(dedupKeys, i, len(batch), m.dedupKey)
	}
	args := []any{payloads, keys, headers, interval(o.delay)}
	if o.priority == nil && dedupKeys == nil {
		return firstOf(collectOwn(ctx, p, "send messages", &callSendBatch, p.idArray, queue, args...))
	}
	args = slices.Concat([]any{queue}, args, []any{o.priority, dedupKeys})
	return firstOf(collect(ctx, p, "send messages", sqlSendBatchWith, p.idArray, args...))
}

// idArray is the place for an array of ids, which takes less than a row for each.
func (p *postgres) idArray(ids *[]int64) []any {
	if p.records {
		return []any{ids}
	}
	return []any{(*idText)(ids)}
}

// firstOf is the first of the rows, if there is one.
func firstOf[T any](rows []T, err error) (v T, _ error) {
	if len(rows) > 0 {
		v = rows[0]
	}
	return v, err
}

// put sets one item of a list that is made for the first item that is not null.
func put(items []*string, i, n int, item *string) []*string {
	if item == nil {
		return items
	}
	if items == nil {
		items = make([]*string, n)
	}
	items[i] = item
	return items
}

func (p *postgres) publish(ctx context.Context, topic string, m jsonMessage, o sendOptions) ([]Published, error) {
	args := []any{topic, m.payload, m.key, m.headers, interval(o.delay)}
	if o.priority == nil && m.dedupKey == nil {
		return collect(ctx, p, "publish message", sqlPublish,
			func(r *Published) []any { return []any{&r.Queue, &r.ID} }, args...)
	}
	return collect(ctx, p, "publish message", sqlPublishWith,
		func(r *Published) []any { return []any{&r.Queue, &r.ID, &r.Repeated} }, append(args, o.priority, m.dedupKey)...)
}

func (p *postgres) receive(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	if o.wait <= 0 {
		return p.receiveOnce(ctx, queue, o)
	}
	deadline := time.Now().Add(o.wait)
	w := waiter{ear: p.ear, queue: queue}
	for {
		messages, err := p.receiveOnce(ctx, queue, o)
		left := time.Until(deadline)
		if err != nil || len(messages) > 0 || left <= 0 {
			return messages, err
		}
		w.wait(ctx, left)
	}
}

// receiveOnce claims what is there now.
func (p *postgres) receiveOnce(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	args := []any{o.group, o.max, interval(&o.lease)}
	if !p.records {
		args = slices.Concat([]any{queue}, args)
		rows, err := collect(ctx, p, "receive messages", sqlReceive, (*messageRow).fields, args...)
		return messagesOf(queue, o.group, rows, err)
	}
	records, err := collectOwn(ctx, p, "receive messages", &callReceive, (*record).fields, queue, args...)
	if err != nil {
		return nil, err
	}
	var messages []*RawMessage
	for i := range records {
		if messages, err = records[i].appendTo(messages, queue, o.group); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

func (p *postgres) pop(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	rows, err := collect(ctx, p, "pop messages", sqlPop, (*messageRow).fields, queue, o.group, o.max)
	return messagesOf(queue, o.group, rows, err)
}

func (p *postgres) peek(ctx context.Context, queue string, o receiveOptions) ([]*RawMessage, error) {
	rows, err := collect(ctx, p, "peek at messages", sqlPeek, (*messageRow).fields, queue, o.group, o.max)
	return messagesOf(queue, o.group, rows, err)
}

// settle does one thing to messages of several claims, in one statement and so to all or none.
func (p *postgres) settle(ctx context.Context, verb verb, queue string, items []settlement) ([]int, error) {
	claims := make([]int64, len(items))
	ids, delays, reasons := make([]*string, len(items)), make([]*string, len(items)), make([]*string, len(items))
	for i, item := range items {
		claims[i], delays[i], reasons[i] = item.claim, interval(item.delay), orNull(item.reason)
		if text, ok := plainArg(item.ids).(string); ok {
			ids[i] = &text
		}
	}
	switch verb {
	case nack:
		return list[int](ctx, p, "nack messages", sqlNack, queue, claims, ids, delays, reasons)
	case reject:
		return list[int](ctx, p, "reject messages", sqlReject, queue, claims, ids, reasons)
	case release:
		return list[int](ctx, p, "release messages", sqlRelease, queue, claims, ids)
	case snooze:
		return list[int](ctx, p, "snooze messages", sqlSnooze, queue, claims, ids, delays)
	case finish:
		return p.finish(ctx, queue, items)
	case ack:
	}
	return listOwn[int](ctx, p, "ack messages", &callAck, queue, claims, ids)
}

func (p *postgres) extend(
	ctx context.Context, queue, _ string, claims []int64, lease time.Duration,
) ([]time.Time, error) {
	return list[time.Time](ctx, p, "extend claims", sqlExtend, queue, claims, interval(&lease))
}

func (p *postgres) deadLetters(ctx context.Context, queue string, o receiveOptions) ([]DeadLetter, error) {
	type row struct {
		DeadLetter
		payload string
		headers *string
	}
	rows, err := collect(ctx, p, "list dead letters", sqlDeadLetters, func(r *row) []any {
		return []any{&r.ID, &r.Key, &r.payload, &r.headers, &r.EnqueuedAt, &r.Attempts, &r.DiedAt, &r.Reason}
	}, queue, o.group, o.max, o.after)
	letters := make([]DeadLetter, len(rows))
	for i, r := range rows {
		letters[i] = r.DeadLetter
		letters[i].Payload = json.RawMessage(r.payload)
		if r.headers != nil {
			letters[i].Headers = json.RawMessage(*r.headers)
		}
	}
	return letters, err
}

func (p *postgres) redrive(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	return one[int64](ctx, p, "redrive dead letters", sqlRedrive, queue, o.group, o.ids)
}

func (p *postgres) discard(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	return one[int64](ctx, p, "discard dead letters", sqlDiscard, queue, o.group, o.ids)
}

func (p *postgres) maintain(ctx context.Context, every time.Duration) (int, error) {
	return one[int](ctx, p, "maintain queues", sqlMaintain, interval(&every))
}

func (p *postgres) version(ctx context.Context) (string, error) {
	return one[string](ctx, p, "ask for version", sqlVersion)
}

// begin opens a transaction of pgx.
func (p *postgres) begin(ctx context.Context) (pgx.Tx, error) {
	x, ok := p.executor.(pgxExecutor)
	if !ok {
		return nil, fmt.Errorf("begin transaction: %w: begin it with database/sql and use InSQL", ErrNotInTransaction)
	}
	tx, err := x.Begin(ctx)
	return tx, wrap("begin transaction", err)
}

package weir

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Every parameter is cast, so that the statements mean the same in all of pgx's ways to run them, prepared or not,
// and with other drivers.
const (
	sqlSend = `select weir.send($1::text, $2::text::json, key => $3::text, headers => $4::text::jsonb,
		delay => $5::text::interval, priority => $6::int, dedup_key => $7::text)`
	sqlSendBatch = `select array(select weir.send_batch($1::text, $2::text[]::json[], keys => $3::text[],
		headers => $4::text[]::jsonb[], delay => $5::text::interval, priority => $6::int, dedup_keys => $7::text[]))`
	sqlPublish = `select queue_name, id, repeated from weir.publish($1::text, $2::text::json, key => $3::text,
		headers => $4::text::jsonb, delay => $5::text::interval, priority => $6::int, dedup_key => $7::text)`
	sqlReceive = `select coalesce(u.id, r.first_id + u.i - 1), coalesce(r.claim_id, 0), coalesce(u.attempt, r.attempt),
		u.key, u.payload, u.headers::text, coalesce(u.enqueued_at, r.enqueued_at), u.body
		from weir.receive_records($1::text, $2::text, max => $3::int, lease => $4::text::interval) r
		cross join lateral unnest(r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times, r.bodies)
			with ordinality u (id, attempt, key, payload, headers, enqueued_at, body, i)`
	sqlReceiveRecords = `select claim_id, n, first_id, ids, attempt, attempts, keys, payloads, headers, enqueued_at,
		enqueued_times, bodies from weir.receive_records($1::text, $2::text, max => $3::int, lease => $4::text::interval)`
	sqlPop = `select coalesce(u.id, r.first_id + u.i - 1), coalesce(r.claim_id, 0), coalesce(u.attempt, r.attempt),
		u.key, u.payload, u.headers::text, coalesce(u.enqueued_at, r.enqueued_at), u.body
		from weir.pop_records($1::text, $2::text, max => $3::int) r
		cross join lateral unnest(r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times, r.bodies)
			with ordinality u (id, attempt, key, payload, headers, enqueued_at, body, i)`
	sqlPeek = `select coalesce(u.id, r.first_id + u.i - 1), coalesce(r.claim_id, 0), coalesce(u.attempt, r.attempt),
		u.key, u.payload, u.headers::text, coalesce(u.enqueued_at, r.enqueued_at), u.body
		from weir.peek_records($1::text, $2::text, max => $3::int) r
		cross join lateral unnest(r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times, r.bodies)
			with ordinality u (id, attempt, key, payload, headers, enqueued_at, body, i)`

	sqlAck     = `select weir.ack($1::text, $2::bigint, $3::bigint)`
	sqlAckAll  = `select weir.ack_all($1::text, $2::bigint)`
	sqlAckMany = `select weir.ack($1::text, c, i::bigint[]) from unnest($2::bigint[], $3::text[]) as t (c, i)`
	sqlNack    = `select weir.nack($1::text, c, i::bigint[], delay => d::interval, reason => r)
		from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as t (c, i, d, r)`
	sqlReject = `select weir.reject($1::text, c, i::bigint[], reason => r)
		from unnest($2::bigint[], $3::text[], $4::text[]) as t (c, i, r)`
	sqlRelease = `select weir.release($1::text, c, i::bigint[]) from unnest($2::bigint[], $3::text[]) as t (c, i)`
	sqlExtend  = `select weir.extend($1::text, c, lease => $3::text::interval) from unnest($2::bigint[]) as t (c)`

	// What workers settle and extend: what cannot be done is null, and concerns no other claim.
	sqlSettleMany = `select unnest(weir.settle_many($1::text, $2::text[], $3::bigint[], $4::text[]::int8multirange[],
		delays => $5::text[]::interval[], reasons => $6::text[]))`
	sqlExtendMany = `select unnest(weir.extend_many($1::text, $2::bigint[],
		array_fill($3::text::interval, array[cardinality($2::bigint[])]))) is not null`

	sqlDeadLetters = `select id, key, payload_text, headers::text, enqueued_at, attempts, died_at, reason,
		case when payload_text is null then body end
		from weir.dead_letters($1::text, $2::text, max => $3::int, after => $4::bigint)`
	sqlRedrive = `select weir.redrive($1::text, $2::text, ids => $3::bigint[])`
	sqlDiscard = `select weir.discard($1::text, $2::text, ids => $3::bigint[])`

	sqlMaintain = `call weir.maintain($1::text::interval)`
	sqlVersion  = `select weir.version()`
)

// postgres speaks to the engine's functions.
type postgres struct {
	executor

	records bool // the driver reads arrays, so that a receive need not take its records apart in SQL
	ear     *ear // nil where nothing can be heard
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
		return list[int64](ctx, p, "send message", sqlSend, queue, m.payload, m.key, m.headers, interval(o.delay),
			o.priority, m.dedupKey)
	}
	payloads := make([]string, len(batch))
	var keys, headers, dedupKeys []*string
	for i, m := range batch {
		payloads[i] = m.payload
		keys = put(keys, i, len(batch), m.key)
		headers = put(headers, i, len(batch), m.headers)
		dedupKeys = put(dedupKeys, i, len(batch), m.dedupKey)
	}
	rows, err := collect(ctx, p, "send messages", sqlSendBatch, p.idArray, queue, payloads, keys, headers,
		interval(o.delay), o.priority, dedupKeys)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// idArray is the place for an array of ids, which takes less than a row for each.
func (p *postgres) idArray(ids *[]int64) []any {
	if p.records {
		return []any{ids}
	}
	return []any{(*idText)(ids)}
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
	return collect(ctx, p, "publish message", sqlPublish,
		func(r *Published) []any { return []any{&r.Queue, &r.ID, &r.Repeated} },
		topic, m.payload, m.key, m.headers, interval(o.delay), o.priority, m.dedupKey)
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
	args := []any{queue, o.group, o.max, interval(&o.lease)}
	if !p.records {
		rows, err := collect(ctx, p, "receive messages", sqlReceive, (*messageRow).fields, args...)
		return messagesOf(queue, o.group, rows, err)
	}
	records, err := collect(ctx, p, "receive messages", sqlReceiveRecords, (*record).fields, args...)
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

func (p *postgres) deadLetters(ctx context.Context, queue string, o receiveOptions) ([]DeadLetter, error) {
	type row struct {
		DeadLetter
		payload *string
		headers *string
	}
	rows, err := collect(ctx, p, "list dead letters", sqlDeadLetters, func(r *row) []any {
		return []any{
			&r.ID, &r.Key, &r.payload, &r.headers, &r.EnqueuedAt, &r.Attempts, &r.DiedAt, &r.Reason, &r.Body,
		}
	}, queue, o.group, o.max, o.after)
	letters := make([]DeadLetter, len(rows))
	for i, r := range rows {
		letters[i] = r.DeadLetter
		letters[i].Payload = rawOf(r.payload)
		letters[i].Headers = rawOf(r.headers)
	}
	return letters, err
}

func (p *postgres) redrive(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	return one[int64](ctx, p, "redrive dead letters", sqlRedrive, queue, o.group, o.ids)
}

func (p *postgres) discard(ctx context.Context, queue string, o receiveOptions) (int64, error) {
	return one[int64](ctx, p, "discard dead letters", sqlDiscard, queue, o.group, o.ids)
}

// maintain calls a procedure that commits after each step.
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

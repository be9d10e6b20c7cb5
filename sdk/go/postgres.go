package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Every parameter is cast, so that the statements mean the same in all of pgx's ways to run them, prepared or not,
// and with other drivers.
const (
	sqlSend = `select weir.send($1::text, $2::text::jsonb, key => $3::text, headers => $4::text::jsonb,
		delay => $5::text::interval, priority => $6::int, dedup_key => $7::text)`
	sqlSendBatch = `select weir.send_batch($1::text, $2::text[]::jsonb[], keys => $3::text[],
		headers => $4::text[]::jsonb[], delay => $5::text::interval, priority => $6::int, dedup_keys => $7::text[])`
	sqlPublish = `select queue_name, id from weir.publish($1::text, $2::text::jsonb, key => $3::text,
		headers => $4::text::jsonb, delay => $5::text::interval)`
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

	sqlCreateQueue = `select from weir.create_queue($1::text, lanes => coalesce($2::int, 16),
		message_bytes_max => coalesce($3::int, 1048576), priorities => coalesce($4::int, 1),
		ttl => coalesce($5::text::interval, '0'), retention => coalesce($6::text::interval, '0'),
		dedup_window => coalesce($7::text::interval, '5 minutes'))`
	sqlDropQueue   = `select from weir.drop_queue($1::text)`
	sqlCreateGroup = `select from weir.create_group($1::text, $2::text, ordered => $3::text::boolean,
		start => coalesce($4::text, 'start'), max_attempts => coalesce($5::int, 5),
		backoff_min => coalesce($6::text::interval, '1 second'), backoff_max => coalesce($7::text::interval, '10 minutes'),
		patience => coalesce($8::text::interval, '1 second'))`
	sqlDropGroup  = `select from weir.drop_group($1::text, $2::text)`
	sqlListGroups = `select group_name, ordered, max_attempts from weir.list_groups($1::text)`
	sqlSeek       = `select from weir.seek($1::text, $2::text, $3::text)`
	sqlPause      = `select from weir.pause($1::text, $2::text)`
	sqlResume     = `select from weir.resume($1::text, $2::text)`
	sqlPurge      = `select weir.purge($1::text, $2::text)`
	sqlStats      = `select queue_name, group_name, waiting, claimed, delayed, parked, dead from weir.stats($1::text)`
	sqlMaintain   = `select weir.maintain()`
	sqlVersion    = `select weir.version()`
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
	return list[int64](ctx, p, "send messages", sqlSendBatch, queue, payloads, keys, headers, interval(o.delay),
		o.priority, dedupKeys)
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
		func(r *Published) []any { return []any{&r.Queue, &r.ID} },
		topic, m.payload, m.key, m.headers, interval(o.delay))
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
	case ack:
	}
	return list[int](ctx, p, "ack messages", sqlAck, queue, claims, ids)
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

func (p *postgres) createQueue(ctx context.Context, queue string, o QueueOptions) error {
	return p.do(ctx, "create queue", sqlCreateQueue, queue, zeroNull(o.Lanes), zeroNull(o.MessageBytesMax),
		zeroNull(o.Priorities), interval(zeroNull(o.TTL)), interval(zeroNull(o.Retention)),
		interval(zeroNull(o.DedupWindow)))
}

func (p *postgres) dropQueue(ctx context.Context, queue string) error {
	return p.do(ctx, "drop queue", sqlDropQueue, queue)
}

func (p *postgres) createGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	ordered := "false"
	if o.Ordered {
		ordered = "true"
	}
	return p.do(ctx, "create group", sqlCreateGroup, queue, group, ordered, orNull(o.Start), zeroNull(o.MaxAttempts),
		interval(zeroNull(o.BackoffMin)), interval(zeroNull(o.BackoffMax)), interval(zeroNull(o.Patience)))
}

func (p *postgres) dropGroup(ctx context.Context, queue, group string) error {
	return p.do(ctx, "drop group", sqlDropGroup, queue, group)
}

func (p *postgres) listGroups(ctx context.Context, queue string) ([]Group, error) {
	return collect(ctx, p, "list groups", sqlListGroups,
		func(g *Group) []any { return []any{&g.Group, &g.Ordered, &g.MaxAttempts} }, queue)
}

func (p *postgres) seek(ctx context.Context, queue, group, position string) error {
	return p.do(ctx, "seek position", sqlSeek, queue, group, position)
}

func (p *postgres) pause(ctx context.Context, queue, group string) error {
	return p.do(ctx, "pause delivery", sqlPause, queue, orNull(group))
}

func (p *postgres) resume(ctx context.Context, queue, group string) error {
	return p.do(ctx, "resume delivery", sqlResume, queue, orNull(group))
}

func (p *postgres) purge(ctx context.Context, queue, group string) (int64, error) {
	return one[int64](ctx, p, "purge queue", sqlPurge, queue, orNull(group))
}

func (p *postgres) stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return collect(ctx, p, "count messages", sqlStats, func(s *GroupStats) []any {
		return []any{&s.Queue, &s.Group, &s.Waiting, &s.Claimed, &s.Delayed, &s.Parked, &s.Dead}
	}, orNull(queue))
}

func (p *postgres) maintain(ctx context.Context) (int, error) {
	return one[int](ctx, p, "maintain queues", sqlMaintain)
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

// zeroNull makes a zero value null.
func zeroNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

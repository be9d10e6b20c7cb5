package weir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	sqlCreateQueue = `select weir.create_queue($1::text, ordered => $2::text::boolean, log => $3::text,
		lanes => $4::int, priorities => $5::int, message_bytes_max => $6::int, aging => $7::text::interval,
		ttl => $8::text::interval, dedup_window => $9::text::interval, backlog_max => $10::bigint,
		job_retention => $11::text::interval)`
	sqlConfigureQueue = `select from weir.configure_queue($1::text, lanes => $2::int, message_bytes_max => $3::int,
		aging => $4::text::interval, ttl => $5::text::interval, dedup_window => $6::text::interval,
		backlog_max => $7::bigint, job_retention => $8::text::interval)`
	sqlRenameQueue = `select from weir.rename_queue($1::text, $2::text)`
	sqlMoveQueue   = `select from weir.move_queue($1::text, $2::text)`
	sqlDropQueue   = `select from weir.drop_queue($1::text)`
	sqlListQueues  = `select queue_name, log, lanes, priorities, message_bytes_max,
			(extract(epoch from aging) * 1000)::bigint, (extract(epoch from ttl) * 1000)::bigint,
			(extract(epoch from dedup_window) * 1000)::bigint, coalesce(backlog_max, 0),
			(extract(epoch from job_retention) * 1000)::bigint, paused, created_at, coalesce(moving_from, '')
		from weir.list_queues() order by queue_name`

	sqlCreateLog = `select weir.create_log($1::text, unlogged => $2::text::boolean,
		segment_bytes => coalesce($3::bigint, 67108864), claims_bytes => coalesce($4::bigint, 16777216),
		retention => coalesce($5::text::interval, '0'))`
	sqlConfigureLog = `select from weir.configure_log($1::text, segment_bytes => $2::bigint, claims_bytes => $3::bigint,
		retention => $4::text::interval)`
	sqlListLogs = `select log_name, unlogged, segment_bytes, claims_bytes,
			(extract(epoch from retention) * 1000)::bigint, queues, bytes, created_at
		from weir.list_logs() order by log_name`
	sqlDropLog = `select from weir.drop_log($1::text)`

	sqlGet = `select id, key, payload_text, headers::text, enqueued_at, states::text, details::text,
		case when payload_text is null then body end from weir.get($1::text, $2::bigint)`

	sqlGetMany = `select id, key, payload_text, headers::text, enqueued_at, states::text, details::text,
		case when payload_text is null then body end from weir.get_many($1::text, $2::bigint[])`

	sqlCreateGroup = `select from weir.create_group($1::text, $2::text, ordered => $3::text::boolean,
		start => coalesce($4::text, 'start'), max_attempts => coalesce($5::int, 5),
		backoff_min => coalesce($6::text::interval, '1 second'), backoff_max => coalesce($7::text::interval, '10 minutes'),
		concurrency_max => coalesce($8::int, 0), rate_max => coalesce($9::int, 0),
		rate_period => coalesce($10::text::interval, '1 second'), key_concurrency_max => coalesce($11::int, 0),
		fair => $12::text::boolean)`
	sqlConfigureGroup = `select from weir.configure_group($1::text, $2::text, max_attempts => $3::int,
		backoff_min => $4::text::interval, backoff_max => $5::text::interval, concurrency_max => $6::int,
		rate_max => $7::int, rate_period => $8::text::interval, key_concurrency_max => $9::int,
		fair => $10::text::boolean)`
	sqlDropGroup  = `select from weir.drop_group($1::text, $2::text)`
	sqlListGroups = `select group_name, ordered, max_attempts, (extract(epoch from backoff_min) * 1000)::bigint,
			(extract(epoch from backoff_max) * 1000)::bigint, paused, created_at, coalesce(concurrency_max, 0),
			coalesce(rate_max, 0), (extract(epoch from rate_period) * 1000)::bigint, coalesce(key_concurrency_max, 0),
			fair
		from weir.list_groups($1::text)`
	sqlSeek   = `select from weir.seek($1::text, $2::text, $3::text)`
	sqlPause  = `select from weir.pause($1::text, $2::text)`
	sqlResume = `select from weir.resume($1::text, $2::text)`
	sqlPurge  = `select weir.purge($1::text, $2::text)`

	sqlBind         = `select from weir.bind($1::text, $2::text)`
	sqlUnbind       = `select weir.unbind($1::text, $2::text)`
	sqlRoute        = `select weir.route($1::text)`
	sqlListBindings = `select pattern, queue_name, created_at from weir.list_bindings()`

	sqlStats = `select queue_name, group_name, waiting, expired, claimed, delayed, parked, dead,
		coalesce(extract(epoch from oldest_age), 0)::float8, exact, sent_rate, delivered_rate, delivered_at, expiries,
		hot_key, hot_key_share, held_by, lanes, log, held_segments, segments, bytes, blocked_by, blocker_pid,
		extract(epoch from blocker_age)::float8, blocker_query from weir.stats($1::text)`
	sqlDoctor = `select severity, finding, queue_name, group_name, value, message, coalesce(cure, '') from weir.doctor()`
)

func (p *postgres) createQueue(ctx context.Context, queue string, o QueueOptions) (bool, error) {
	var ordered *string
	if o.Ordered {
		ordered = new(flag(true))
	}
	return one[bool](ctx, p, "create queue", sqlCreateQueue, queue, ordered, orNull(o.Log), zeroNull(o.Lanes),
		zeroNull(o.Priorities), zeroNull(o.MessageBytesMax), interval(zeroNull(o.Aging)), interval(zeroNull(o.TTL)),
		interval(zeroNull(o.DedupWindow)), zeroNull(o.BacklogMax), interval(zeroNull(o.JobRetention)))
}

func (p *postgres) configureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return p.do(ctx, "configure queue", sqlConfigureQueue, queue, s.Lanes, s.MessageBytesMax, interval(s.Aging),
		interval(s.TTL), interval(s.DedupWindow), s.BacklogMax, interval(s.JobRetention))
}

func (p *postgres) createLog(ctx context.Context, log string, o LogOptions) (bool, error) {
	return one[bool](ctx, p, "create log", sqlCreateLog, log, flag(o.Unlogged), zeroNull(o.SegmentBytes),
		zeroNull(o.ClaimsBytes), interval(zeroNull(o.Retention)))
}

func (p *postgres) configureLog(ctx context.Context, log string, s LogSettings) error {
	return p.do(ctx, "configure log", sqlConfigureLog, log, s.SegmentBytes, s.ClaimsBytes, interval(s.Retention))
}

func (p *postgres) listLogs(ctx context.Context) ([]Log, error) {
	return logsOf(collect(ctx, p, "list logs", sqlListLogs, (*logRow).fields))
}

func (p *postgres) dropLog(ctx context.Context, log string) error {
	return p.do(ctx, "drop log", sqlDropLog, log)
}

func (p *postgres) renameQueue(ctx context.Context, queue, name string) error {
	return p.do(ctx, "rename queue", sqlRenameQueue, queue, name)
}

func (p *postgres) moveQueue(ctx context.Context, queue, log string) error {
	return p.do(ctx, "move queue", sqlMoveQueue, queue, log)
}

func (p *postgres) dropQueue(ctx context.Context, queue string) error {
	return p.do(ctx, "drop queue", sqlDropQueue, queue)
}

func (p *postgres) listQueues(ctx context.Context) ([]Queue, error) {
	return queuesOf(collect(ctx, p, "list queues", sqlListQueues, (*queueRow).fields))
}

func (p *postgres) get(ctx context.Context, queue string, id int64) (*StoredMessage, error) {
	messages, err := p.stored(ctx, "get message", sqlGet, queue, id)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return &messages[0], nil
}

func (p *postgres) getMany(ctx context.Context, queue string, ids []int64) ([]StoredMessage, error) {
	return p.stored(ctx, "get messages", sqlGetMany, queue, ids)
}

// stored reads messages as their queue keeps them.
func (p *postgres) stored(ctx context.Context, doing, text string, args ...any) ([]StoredMessage, error) {
	type row struct {
		StoredMessage

		payload, headers *string
		states, details  string
	}
	rows, err := collect(ctx, p, doing, text, func(r *row) []any {
		return []any{&r.ID, &r.Key, &r.payload, &r.headers, &r.EnqueuedAt, &r.states, &r.details, &r.Body}
	}, args...)
	if err != nil {
		return nil, err
	}
	messages := make([]StoredMessage, len(rows))
	for i, r := range rows {
		r.Payload, r.Headers = rawOf(r.payload), rawOf(r.headers)
		err := errors.Join(json.Unmarshal([]byte(r.states), &r.States), json.Unmarshal([]byte(r.details), &r.Details))
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", doing, errBadAnswer, err)
		}
		messages[i] = r.StoredMessage
	}
	return messages, nil
}

func (p *postgres) createGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	return p.do(ctx, "create group", sqlCreateGroup, queue, group, flag(o.Ordered), orNull(o.Start),
		zeroNull(o.MaxAttempts), interval(zeroNull(o.BackoffMin)), interval(zeroNull(o.BackoffMax)),
		zeroNull(o.ConcurrencyMax), zeroNull(o.RateMax), interval(zeroNull(o.RatePeriod)),
		zeroNull(o.KeyConcurrencyMax), flag(o.Fair))
}

func (p *postgres) configureGroup(ctx context.Context, queue, group string, s GroupSettings) error {
	var fair *string
	if s.Fair != nil {
		fair = new(flag(*s.Fair))
	}
	return p.do(ctx, "configure group", sqlConfigureGroup, queue, group, s.MaxAttempts, interval(s.BackoffMin),
		interval(s.BackoffMax), s.ConcurrencyMax, s.RateMax, interval(s.RatePeriod), s.KeyConcurrencyMax, fair)
}

func (p *postgres) dropGroup(ctx context.Context, queue, group string) error {
	return p.do(ctx, "drop group", sqlDropGroup, queue, group)
}

func (p *postgres) listGroups(ctx context.Context, queue string) ([]Group, error) {
	return groupsOf(collect(ctx, p, "list groups", sqlListGroups, (*groupRow).fields, queue))
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

func (p *postgres) bind(ctx context.Context, pattern, queue string) error {
	return p.do(ctx, "bind topics", sqlBind, pattern, queue)
}

func (p *postgres) unbind(ctx context.Context, pattern, queue string) (bool, error) {
	return one[bool](ctx, p, "unbind topics", sqlUnbind, pattern, queue)
}

func (p *postgres) route(ctx context.Context, topic string) ([]string, error) {
	return list[string](ctx, p, "route topic", sqlRoute, topic)
}

func (p *postgres) listBindings(ctx context.Context) ([]Binding, error) {
	return collect(ctx, p, "list bindings", sqlListBindings,
		func(b *Binding) []any { return []any{&b.Pattern, &b.Queue, &b.CreatedAt} })
}

func (p *postgres) stats(ctx context.Context, queue string) ([]GroupStats, error) {
	return statsOf(collect(ctx, p, "count messages", sqlStats, (*statsRow).fields, orNull(queue)))
}

func (p *postgres) doctor(ctx context.Context) ([]Finding, error) {
	return collect(ctx, p, "examine database", sqlDoctor, func(f *Finding) []any {
		return []any{&f.Severity, &f.Finding, &f.Queue, &f.Group, &f.Value, &f.Message, &f.Cure}
	})
}

// zeroNull makes a zero value null.
func zeroNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

package weir

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// Columns that lists have got since 0.1.0 are read through to_jsonb: an older engine gives null for them.
const (
	sqlCreateQueue = `select from weir.create_queue($1::text, lanes => coalesce($2::int, 16),
		message_bytes_max => coalesce($3::int, 1048576), segment_bytes => coalesce($4::bigint, 67108864),
		claims_bytes => coalesce($5::bigint, 16777216))`
	sqlCreateQueueWith = `select from weir.create_queue($1::text, lanes => coalesce($2::int, 16),
		message_bytes_max => coalesce($3::int, 1048576), segment_bytes => coalesce($4::bigint, 67108864),
		claims_bytes => coalesce($5::bigint, 16777216), priorities => coalesce($6::int, 1),
		aging => coalesce($7::text::interval, '1 minute'), ttl => coalesce($8::text::interval, '0'),
		retention => coalesce($9::text::interval, '0'), dedup_window => coalesce($10::text::interval, '5 minutes'),
		backlog_max => $11::bigint, job_retention => coalesce($12::text::interval, '1 day'))`
	sqlConfigureQueue = `select from weir.configure_queue($1::text, message_bytes_max => $2::int,
		segment_bytes => $3::bigint, claims_bytes => $4::bigint, aging => $5::text::interval, ttl => $6::text::interval,
		retention => $7::text::interval, dedup_window => $8::text::interval, backlog_max => $9::bigint,
		job_retention => $10::text::interval)`
	sqlRenameQueue = `select from weir.rename_queue($1::text, $2::text)`
	sqlDropQueue   = `select from weir.drop_queue($1::text)`
	sqlListQueues  = `select queue_name, lanes, coalesce((j ->> 'priorities')::int, 1), message_bytes_max, segment_bytes,
			claims_bytes, coalesce((extract(epoch from (j ->> 'aging')::interval) * 1000)::bigint, 0),
			coalesce((extract(epoch from (j ->> 'ttl')::interval) * 1000)::bigint, 0),
			coalesce((extract(epoch from (j ->> 'retention')::interval) * 1000)::bigint, 0),
			coalesce((extract(epoch from (j ->> 'dedup_window')::interval) * 1000)::bigint, 0),
			coalesce((j ->> 'backlog_max')::bigint, 0),
			coalesce((extract(epoch from (j ->> 'job_retention')::interval) * 1000)::bigint, 0), paused, created_at
		from weir.list_queues() q cross join lateral to_jsonb(q) j order by queue_name`
	sqlGet = `select id, key, payload::text, headers::text, enqueued_at, states::text from weir.get($1::text, $2::bigint)`

	sqlGetMany = `select id, key, payload::text, headers::text, enqueued_at, states::text
		from weir.get_many($1::text, $2::bigint[])`

	sqlCreateGroup = `select from weir.create_group($1::text, $2::text, ordered => $3::text::boolean,
		start => coalesce($4::text, 'start'), max_attempts => coalesce($5::int, 5),
		backoff_min => coalesce($6::text::interval, '1 second'), backoff_max => coalesce($7::text::interval, '10 minutes'),
		patience => coalesce($8::text::interval, '1 second'))`
	sqlConfigureGroup = `select from weir.configure_group($1::text, $2::text, max_attempts => $3::int,
		backoff_min => $4::text::interval, backoff_max => $5::text::interval, patience => $6::text::interval)`
	sqlCreateGroupWith = `select from weir.create_group($1::text, $2::text, ordered => $3::text::boolean,
		start => coalesce($4::text, 'start'), max_attempts => coalesce($5::int, 5),
		backoff_min => coalesce($6::text::interval, '1 second'), backoff_max => coalesce($7::text::interval, '10 minutes'),
		patience => coalesce($8::text::interval, '1 second'), concurrency_max => coalesce($9::int, 0),
		rate_max => coalesce($10::int, 0), rate_period => coalesce($11::text::interval, '1 second'))`
	sqlCreateGroupOfKeys = `select from weir.create_group($1::text, $2::text, ordered => $3::text::boolean,
		start => coalesce($4::text, 'start'), max_attempts => coalesce($5::int, 5),
		backoff_min => coalesce($6::text::interval, '1 second'), backoff_max => coalesce($7::text::interval, '10 minutes'),
		patience => coalesce($8::text::interval, '1 second'), concurrency_max => coalesce($9::int, 0),
		rate_max => coalesce($10::int, 0), rate_period => coalesce($11::text::interval, '1 second'),
		key_concurrency_max => coalesce($12::int, 0), fair => $13::text::boolean)`
	sqlConfigureGroupWith = `select from weir.configure_group($1::text, $2::text, max_attempts => $3::int,
		backoff_min => $4::text::interval, backoff_max => $5::text::interval, patience => $6::text::interval,
		concurrency_max => $7::int, rate_max => $8::int, rate_period => $9::text::interval)`
	sqlConfigureGroupOfKeys = `select from weir.configure_group($1::text, $2::text, max_attempts => $3::int,
		backoff_min => $4::text::interval, backoff_max => $5::text::interval, patience => $6::text::interval,
		concurrency_max => $7::int, rate_max => $8::int, rate_period => $9::text::interval,
		key_concurrency_max => $10::int, fair => $11::text::boolean)`
	sqlDropGroup  = `select from weir.drop_group($1::text, $2::text)`
	sqlListGroups = `select group_name, ordered, max_attempts, (extract(epoch from backoff_min) * 1000)::bigint,
			(extract(epoch from backoff_max) * 1000)::bigint,
			coalesce((extract(epoch from (j ->> 'patience')::interval) * 1000)::bigint, 0), paused, created_at,
			coalesce((j ->> 'concurrency_max')::int, 0), coalesce((j ->> 'rate_max')::int, 0),
			coalesce((extract(epoch from (j ->> 'rate_period')::interval) * 1000)::bigint, 0),
			coalesce((j ->> 'key_concurrency_max')::int, 0), coalesce((j ->> 'fair')::boolean, false)
		from weir.list_groups($1::text) g cross join lateral to_jsonb(g) j`
	sqlSeek   = `select from weir.seek($1::text, $2::text, $3::text)`
	sqlPause  = `select from weir.pause($1::text, $2::text)`
	sqlResume = `select from weir.resume($1::text, $2::text)`
	sqlPurge  = `select weir.purge($1::text, $2::text)`

	sqlBind         = `select from weir.bind($1::text, $2::text)`
	sqlUnbind       = `select weir.unbind($1::text, $2::text)`
	sqlRoute        = `select weir.route($1::text)`
	sqlListBindings = `select pattern, queue_name, created_at from weir.list_bindings()`

	sqlStats = `select queue_name, group_name, waiting, claimed, delayed, parked, dead,
			to_jsonb(s) ->> 'held_by'
		from weir.stats($1::text) s`
	sqlDoctor = `select severity, finding, queue_name, group_name, value, message, coalesce(cure, '') from weir.doctor()`
)

func (p *postgres) createQueue(ctx context.Context, queue string, o QueueOptions) error {
	args := []any{
		queue, zeroNull(o.Lanes), zeroNull(o.MessageBytesMax), zeroNull(o.SegmentBytes), zeroNull(o.ClaimsBytes),
	}
	newer := QueueOptions{
		Priorities: o.Priorities, Aging: o.Aging, TTL: o.TTL, Retention: o.Retention, DedupWindow: o.DedupWindow,
		BacklogMax: o.BacklogMax, JobRetention: o.JobRetention,
	}
	if newer == (QueueOptions{}) {
		return p.do(ctx, "create queue", sqlCreateQueue, args...)
	}
	return p.do(ctx, "create queue", sqlCreateQueueWith, append(args, zeroNull(o.Priorities),
		interval(zeroNull(o.Aging)), interval(zeroNull(o.TTL)), interval(zeroNull(o.Retention)),
		interval(zeroNull(o.DedupWindow)), zeroNull(o.BacklogMax), interval(zeroNull(o.JobRetention)))...)
}

func (p *postgres) configureQueue(ctx context.Context, queue string, s QueueSettings) error {
	return p.do(ctx, "configure queue", sqlConfigureQueue, queue, s.MessageBytesMax, s.SegmentBytes, s.ClaimsBytes,
		interval(s.Aging), interval(s.TTL), interval(s.Retention), interval(s.DedupWindow), s.BacklogMax,
		interval(s.JobRetention))
}

func (p *postgres) renameQueue(ctx context.Context, queue, name string) error {
	return p.do(ctx, "rename queue", sqlRenameQueue, queue, name)
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

		payload, states string
		headers         *string
	}
	rows, err := collect(ctx, p, doing, text, func(r *row) []any {
		return []any{&r.ID, &r.Key, &r.payload, &r.headers, &r.EnqueuedAt, &r.states}
	}, args...)
	if err != nil {
		return nil, err
	}
	messages := make([]StoredMessage, len(rows))
	for i, r := range rows {
		r.Payload = json.RawMessage(r.payload)
		if r.headers != nil {
			r.Headers = json.RawMessage(*r.headers)
		}
		if err := json.Unmarshal([]byte(r.states), &r.States); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", doing, errBadAnswer, err)
		}
		messages[i] = r.StoredMessage
	}
	return messages, nil
}

func (p *postgres) createGroup(ctx context.Context, queue, group string, o GroupOptions) error {
	args := []any{
		queue, group, strconv.FormatBool(o.Ordered), orNull(o.Start), zeroNull(o.MaxAttempts),
		interval(zeroNull(o.BackoffMin)), interval(zeroNull(o.BackoffMax)), interval(zeroNull(o.Patience)),
	}
	ofKeys := o.KeyConcurrencyMax != 0 || o.Fair
	if !ofKeys && o.ConcurrencyMax == 0 && o.RateMax == 0 && o.RatePeriod == 0 {
		return p.do(ctx, "create group", sqlCreateGroup, args...)
	}
	args = append(args, zeroNull(o.ConcurrencyMax), zeroNull(o.RateMax), interval(zeroNull(o.RatePeriod)))
	if !ofKeys {
		return p.do(ctx, "create group", sqlCreateGroupWith, args...)
	}
	return p.do(ctx, "create group", sqlCreateGroupOfKeys,
		append(args, zeroNull(o.KeyConcurrencyMax), strconv.FormatBool(o.Fair))...)
}

func (p *postgres) configureGroup(ctx context.Context, queue, group string, s GroupSettings) error {
	args := []any{
		queue, group, s.MaxAttempts, interval(s.BackoffMin), interval(s.BackoffMax), interval(s.Patience),
	}
	ofKeys := s.KeyConcurrencyMax != nil || s.Fair != nil
	if !ofKeys && s.ConcurrencyMax == nil && s.RateMax == nil && s.RatePeriod == nil {
		return p.do(ctx, "configure group", sqlConfigureGroup, args...)
	}
	args = append(args, s.ConcurrencyMax, s.RateMax, interval(s.RatePeriod))
	if !ofKeys {
		return p.do(ctx, "configure group", sqlConfigureGroupWith, args...)
	}
	var fair *string
	if s.Fair != nil {
		text := strconv.FormatBool(*s.Fair)
		fair = &text
	}
	return p.do(ctx, "configure group", sqlConfigureGroupOfKeys, append(args, s.KeyConcurrencyMax, fair)...)
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
	return collect(ctx, p, "count messages", sqlStats, func(s *GroupStats) []any {
		return []any{&s.Queue, &s.Group, &s.Waiting, &s.Claimed, &s.Delayed, &s.Parked, &s.Dead, &s.HeldBy}
	}, orNull(queue))
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

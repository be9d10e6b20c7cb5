/** What is read of the rows that the engine's functions return. */

// Columns are read as texts wherever a driver's parsers could come between, and what is a list comes as JSON: that is
// quicker to read than PostgreSQL's own form of arrays.
export const recordColumns = `claim_id::text, n, first_id::text, to_json(ids::text[])::text as ids, attempt,
  to_json(attempts)::text as attempts, to_json(keys)::text as keys,
  '[' || array_to_string(payloads, ',', 'null') || ']' as payloads,
  to_json(headers)::text as headers, to_json(enqueued_at)::text as enqueued_at,
  to_json(enqueued_times)::text as enqueued_times,
  case when bodies is not null then (select json_agg(encode(b, 'base64') order by i)::text
    from unnest(bodies) with ordinality u (b, i)) end as bodies`;
const body = "case when payload_text is null then encode(body, 'base64') end as body";
export const deadColumns = `id::text, key, payload_text as payload, headers::text,
  to_json(enqueued_at)::text as enqueued_at, attempts, to_json(died_at)::text as died_at, reason, ${body}`;
export const storedColumns = `id::text, key, payload_text as payload, headers::text,
  to_json(enqueued_at)::text as enqueued_at, states::text, details::text, ${body}`;
export const logColumns = `log_name, unlogged, segment_bytes::text, claims_bytes::text,
  extract(epoch from retention)::float8 as retention_s, queues, bytes::text, to_json(created_at)::text as created_at`;
export const queueColumns = `queue_name, log, lanes, message_bytes_max, priorities,
  extract(epoch from aging)::float8 as aging_s, extract(epoch from ttl)::float8 as ttl_s,
  extract(epoch from dedup_window)::float8 as dedup_window_s, coalesce(backlog_max, 0)::text as backlog_max,
  extract(epoch from job_retention)::float8 as job_retention_s, paused, to_json(created_at)::text as created_at,
  moving_from`;
export const groupColumns = `group_name, ordered, max_attempts,
  extract(epoch from backoff_min)::float8 as backoff_min_s, extract(epoch from backoff_max)::float8 as backoff_max_s,
  concurrency_max, rate_max,
  extract(epoch from rate_period)::float8 as rate_period_s, key_concurrency_max, fair, paused,
  to_json(created_at)::text as created_at`;
export const bindingColumns = "pattern, queue_name, to_json(created_at)::text as created_at";
export const findingColumns = `severity, finding, queue_name as queue, group_name as "group", value, message,
  coalesce(cure, '') as cure`;
export const statsColumns = `queue_name as queue, group_name as "group", waiting::float8, expired::float8,
  claimed::float8, delayed::float8, parked::float8, dead::float8,
  extract(epoch from oldest_age)::float8 as oldest_age_s, exact, sent_rate, delivered_rate,
  to_json(delivered_at) #>> '{}' as delivered_at, expiries::float8, hot_key, hot_key_share, held_by, lanes, log,
  held_segments, segments, bytes::float8, blocked_by, blocker_pid,
  extract(epoch from blocker_age)::float8 as blocker_age_s, blocker_query`;

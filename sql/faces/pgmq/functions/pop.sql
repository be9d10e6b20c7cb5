-- pgmq.pop(queue_name, qty), pgmq._lock_popped(q, p_records)
-- Reads and deletes at once: a message that its reader loses is lost. _lock_popped: waits for those who are deleting
-- one of the messages that they found unread, and finds out which are theirs: see pgmq._take_out.
--
-- Parameters:
--   queue_name  the queue
--   qty         messages at most; null = all
--   q           the queue
--   p_records   what was popped
-- Returns: the messages, by id, as they stood in the queue: this is not counted as a read. _lock_popped: what others
-- have deleted.
-- Raises: 42P01, 2201W, WR012, WR019
-- Locks: as weir.receive; the messages, when somebody may be deleting them.
create or replace function pgmq._lock_popped(q weir_internal.queues, p_records weir.message_record[])
returns bigint[]
language plpgsql
as $$
declare
    v_ids bigint[] := array(
        select i from unnest(p_records) r
        cross join lateral unnest(coalesce(r.ids, array(select generate_series(r.first_id, r.first_id + r.n - 1)))) i
        order by i);
begin
    perform pg_advisory_xact_lock(weir_internal.message_lock(q.no, i)) from unnest(v_ids) i;
    return array(select n.id from weir_internal.cancellations n
                 where n.queue_no = q.no and n.id = any(v_ids) and not n.moved);
end
$$;
create or replace function pgmq.pop(queue_name text, qty integer default 1)
returns setof pgmq.message_record
language plpgsql
as $$
declare
    q weir_internal.queues;
    g weir_internal.groups;
    v_records weir.message_record[] := pgmq._fetch(queue_name, '1 minute', qty);
    v_gone bigint[] := '{}';
begin
    if cardinality(v_records) = 0 then
        return;
    end if;
    perform weir_log_pgmq.ack_all('pgmq.' || lower(queue_name), v_records[1].claim_id);
    q := pgmq._find(queue_name);
    g := pgmq._group(q);
    if pg_sequence_last_value(q.special) > 0 then
        v_gone := pgmq._lock_popped(q, v_records);
    end if;
    return query
    select u.id, u.read_ct, u.enqueued_at, l.last_read_at, coalesce(l.vt, u.enqueued_at), u.payload::jsonb, u.headers
    from (
        select coalesce(w.id, r.first_id + w.i - 1) as id, coalesce(w.attempt, 1) - 1 as read_ct,
            coalesce(w.enqueued_at, r.enqueued_at) as enqueued_at, w.payload, w.headers, r.claim_id,
            r.attempts is not null as moved
        from unnest(v_records) r
        cross join lateral unnest(r.ids, r.attempts, r.enqueued_times, r.payloads, r.headers)
            with ordinality w (id, attempt, enqueued_at, payload, headers, i)) u
    left join lateral pgmq._last_read(q, g, u.id, u.claim_id) l on u.moved
    where u.id <> all(v_gone)
    order by u.id;
end
$$;

-- weir_internal.configure_queue(queue_name, p_settings)
-- Changes a queue's settings. The queue's own functions contain some of them and are made anew when those change; calls
-- under way end as they began.
--
-- Parameters:
--   queue_name  the queue
--   p_settings  as weir.configure_queue takes them, by name; null or missing = as it is; backlog_max 0 = none
-- Returns: nothing.
-- Raises: WR001, WR006, WR015
-- Locks: the lock for the creation of queues and the queue's administration lock, until the transaction ends.
create or replace function weir_internal.configure_queue(queue_name text, p_settings jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    o weir_internal.queues; -- before
    q weir_internal.queues; -- after
    s record;
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1); -- its functions are made anew by nobody else
    o := weir_internal.find_queue(queue_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(o.no), -1);
    o := weir_internal.find_queue(queue_name);
    select * into s
    from jsonb_to_record(p_settings) as t (
        lanes int, message_bytes_max int, segment_bytes bigint, claims_bytes bigint, aging interval, ttl interval,
        retention interval, dedup_window interval, backlog_max bigint,
        job_retention interval);
    if s.lanes <> o.lanes / o.priorities then
        raise exception 'queue "%" has % lanes, and not %, for as long as it lives',
            o.name, o.lanes / o.priorities, s.lanes
            using errcode = 'WR015',
            hint = format('Rename it, create "%s" with %s lanes, and empty the old before the new.', o.name, s.lanes);
    end if;
    q := o;
    q.message_bytes_max := coalesce(s.message_bytes_max, o.message_bytes_max);
    q.segment_bytes := coalesce(s.segment_bytes, o.segment_bytes);
    q.claims_bytes := coalesce(s.claims_bytes, o.claims_bytes);
    q.aging := coalesce(s.aging, o.aging);
    q.ttl := coalesce(s.ttl, o.ttl);
    q.retention := coalesce(s.retention, o.retention);
    q.dedup_window := coalesce(s.dedup_window, o.dedup_window);
    q.backlog_max := nullif(coalesce(s.backlog_max, o.backlog_max), 0);
    q.job_retention := coalesce(s.job_retention, o.job_retention);
    perform weir_internal.check_queue_settings(q);
    update weir_internal.queues w
    set message_bytes_max = q.message_bytes_max, segment_bytes = q.segment_bytes, claims_bytes = q.claims_bytes,
        aging = q.aging, ttl = q.ttl, retention = q.retention, dedup_window = q.dedup_window,
        backlog_max = q.backlog_max, job_retention = q.job_retention
    where w.no = q.no;
    update weir_internal.groups set ttl = q.ttl where queue_no = q.no and ttl <> q.ttl;
    if q.ttl <> o.ttl and q.ttl > interval '0' then -- heads that are past it hold up what stands behind them
        execute format(
            'update weir_internal.q%s_parked set due_at = enqueued_at + $1 where due_at > enqueued_at + $1', q.no)
        using q.ttl;
    end if;
    if o.dedup_window is null and q.dedup_window is not null then
        perform weir_internal.start_dedup(q);
    end if;
    if q.backlog_max is distinct from o.backlog_max then
        perform weir_internal.start_backlog(q);
    end if;
    if (q.message_bytes_max, q.aging, q.dedup_window, q.backlog_max) is distinct from
        (o.message_bytes_max, o.aging, o.dedup_window, o.backlog_max) then
        perform weir_internal.generate_queue_functions(q);
    end if;
end
$$;

-- weir_internal.configure_queue(queue_name, message_bytes_max, segment_bytes, claims_bytes, lanes)
-- Changes a queue's settings. The queue's own functions contain message_bytes_max and are made anew when it changes;
-- calls under way end as they began.
--
-- Parameters:
--   queue_name         the queue
--   message_bytes_max  null = as it is
--   segment_bytes      null = as it is
--   claims_bytes       null = as it is
--   lanes              null, or as it is
-- Returns: nothing.
-- Raises: WR001, WR006, WR015
-- Locks: the lock for the creation of queues and the queue's administration lock, until the transaction ends.
create or replace function weir_internal.configure_queue(
    queue_name text, message_bytes_max int, segment_bytes bigint, claims_bytes bigint, lanes int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    o weir_internal.queues; -- before
    q weir_internal.queues; -- after
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1); -- its functions are made anew by nobody else
    o := weir_internal.find_queue(queue_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(o.no), -1);
    o := weir_internal.find_queue(queue_name);
    if lanes <> o.lanes then
        raise exception 'queue "%" has % lanes, and not %, for as long as it lives', o.name, o.lanes, lanes
            using errcode = 'WR015',
            hint = format('Rename it, create "%s" with %s lanes, and empty the old before the new.', o.name, lanes);
    end if;
    q := o;
    q.message_bytes_max := coalesce($2, q.message_bytes_max);
    q.segment_bytes := coalesce($3, q.segment_bytes);
    q.claims_bytes := coalesce($4, q.claims_bytes);
    perform weir_internal.check_queue_settings(q);
    update weir_internal.queues w
    set message_bytes_max = q.message_bytes_max, segment_bytes = q.segment_bytes, claims_bytes = q.claims_bytes
    where w.no = q.no;
    if q.message_bytes_max <> o.message_bytes_max then
        perform weir_internal.generate_queue_functions(q);
    end if;
end
$$;

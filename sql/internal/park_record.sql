-- weir_internal.park_record(p_queue, g, r)
-- Parks what became due in `later` for an ordered group, each message at the end of its line.
--
-- Parameters:
--   p_queue  queue number
--   g        the ordered group
--   r        the messages
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_internal.park_record(
    p_queue int, g weir_internal.groups, r weir_internal.log_record)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
begin
    select * into q from weir_internal.queues where no = p_queue;
    perform weir_internal.park(q, g, null, array_agg(
            row(null, null, u.id, null, u.attempts, u.key, u.payload, u.headers, u.enqueued_at, null)
            ::weir_internal.later_row order by u.i),
        weir_internal.clock(), null, true, false)
    from unnest(r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times)
        with ordinality as u (id, attempts, key, payload, headers, enqueued_at, i);
end
$$;

-- weir_internal.lock_lanes(q, g)
-- Waits until nobody claims for a group, and keeps it so.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: nothing.
-- Raises: none
-- Locks: the advisory locks of the group's lanes, until the transaction ends.
create or replace function weir_internal.lock_lanes(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), g.no * (q.lanes + 1) + l)
    from generate_series(0, q.lanes) l;
end
$$;

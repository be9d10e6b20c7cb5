-- weir_internal.mark_lanes(q, g)
-- Tells the receives that are under way that a group is not what it was when they read it: they find a checkpoint in
-- each lane that is newer, and read the group again. The caller holds the locks of the lanes.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: nothing.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.mark_lanes(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'select count(weir_internal.q%1$s_checkpoint(weir_internal.q%1$s_cursor(s::smallint)))
         from generate_series($1, $2) s', q.no)
    using g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes;
end
$$;

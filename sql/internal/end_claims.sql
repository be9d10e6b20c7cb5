-- weir_internal.end_claims(q, g)
-- Takes every unfinished claim of a group from its holder, so that an ack that comes yet is told that its claim is
-- gone. The caller holds the locks of the group's lanes.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: the messages that the claims held.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.end_claims(q weir_internal.queues, g weir_internal.groups)
returns int8multirange
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    d weir_internal.claim;
    v_ids int8multirange := '{}';
begin
    for c in
        execute format(
            'select u.* from generate_series($1, $2) s
             cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u', q.no)
        using g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes
    loop
        v_ids := v_ids + c.ids;
        d.slot := c.slot;
        d.what := 2;
        d.id := c.id;
        d.finished := false;
        execute format('select weir_internal.q%s_put($1)', q.no) using d;
    end loop;
    return v_ids;
end
$$;

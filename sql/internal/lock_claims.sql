-- weir_internal.lock_claims(q, g)
-- Waits until nobody settles an unfinished claim of a group, and keeps it so. The caller holds the locks of its lanes.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: nothing.
-- Raises: none
-- Locks: the claims' advisory locks, until the transaction ends.
create or replace function weir_internal.lock_claims(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'select pg_advisory_xact_lock(weir_internal.claim_lock($3, u.id))
         from generate_series($1, $2) s
         cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
         cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u', q.no)
    using g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes, q.no;
end
$$;

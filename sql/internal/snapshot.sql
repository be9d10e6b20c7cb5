-- weir_internal.snapshot()
-- The snapshot of this moment, with this transaction in progress. PostgreSQL leaves a transaction's own id out of its
-- snapshots, so that once a later transaction has ended, pg_current_snapshot() calls it visible: a cursor would then
-- pass over what it has still to send.
--
-- Returns: the snapshot.
-- Raises: none
-- Locks: none
create or replace function weir_internal.snapshot()
returns pg_snapshot
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_snapshot pg_snapshot := pg_current_snapshot();
    v_own xid8 := pg_current_xact_id_if_assigned();
begin
    if v_own is null or not pg_visible_in_snapshot(v_own, v_snapshot) then
        return v_snapshot;
    end if;
    return format('%s:%s:%s', pg_snapshot_xmin(v_snapshot), pg_snapshot_xmax(v_snapshot),
        (select string_agg(x::text, ',' order by x)
         from (select v_own as x union all select pg_snapshot_xip(v_snapshot)) t));
end
$$;

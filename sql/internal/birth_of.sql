-- weir_internal.birth_of(p_queue)
-- What tells a queue that lives where it was made from one that came in a dump: the OIDs of two of its relations, which
-- pg_upgrade, a standby and CREATE DATABASE ... TEMPLATE keep, as they keep transaction ids. pg_restore makes <q>_ids
-- before <q>_log_0, by their names, Weir after it; so both OIDs cannot be the same again by chance, not even where the
-- same dump is restored into two fresh clusters.
--
-- Parameters:
--   p_queue  queue number
-- Returns: the OIDs of <q>_log_0 and <q>_ids as they are here; see weir_internal.queues.birth.
-- Raises: none
-- Locks: none
create or replace function weir_internal.birth_of(p_queue int)
returns oid[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select array[
        to_regclass(format('weir_internal.q%s_log_0', p_queue))::oid,
        to_regclass(format('weir_internal.q%s_ids', p_queue))::oid]
$$;

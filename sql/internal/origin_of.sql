-- weir_internal.origin_of(p_schema)
-- What tells a log that lives where it was made from one that came in a dump: see log/find_queue.sql.
--
-- Parameters:
--   p_schema  the log's schema
-- Returns: the OIDs of two of its relations as they are here.
-- Raises: none
-- Locks: none
create or replace function weir_internal.origin_of(p_schema text)
returns oid[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select array[to_regclass(p_schema || '.log_0')::oid, to_regclass(p_schema || '.log_ring')::oid]
$$;

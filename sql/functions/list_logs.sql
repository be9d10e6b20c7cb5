-- weir.list_logs()
-- The logs of this database.
--
-- Returns: one row a log: its name and settings, how many queues send to it, and how much space it takes.
-- Raises: none
-- Locks: none
create or replace function weir.list_logs()
returns table (
    log_name text, unlogged boolean, segment_bytes bigint, claims_bytes bigint, retention interval, queues int,
    bytes bigint, created_at timestamptz)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select l.name, l.unlogged, l.segment_bytes, l.claims_bytes, l.retention,
        (select count(*)::int from weir_internal.queues q where q.log_no = l.no),
        (select sum(pg_table_size(c.oid) + pg_indexes_size(c.oid))::bigint from pg_class c
         where c.relnamespace = to_regnamespace(l.schema_name) and c.relkind = 'r'),
        l.created_at
    from weir_internal.logs l order by l.no;
end
$$;

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
declare
    l weir_internal.logs;
begin
    for l in select * from weir_internal.logs w order by w.no loop
        begin
            select sum(pg_table_size(c.oid) + pg_indexes_size(c.oid)) into bytes from pg_class c
            where c.relnamespace = to_regnamespace(l.schema_name) and c.relkind = 'r';
        exception
            when internal_error then -- a table was dropped under the look at its size
                continue when not exists (select from weir_internal.logs w where w.no = l.no);
                raise;
        end;
        continue when bytes is null; -- the log is dropped
        log_name := l.name;
        unlogged := l.unlogged;
        segment_bytes := l.segment_bytes;
        claims_bytes := l.claims_bytes;
        retention := l.retention;
        queues := (select count(*) from weir_internal.queues q where q.log_no = l.no);
        created_at := l.created_at;
        return next;
    end loop;
end
$$;

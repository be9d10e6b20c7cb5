-- weir_internal.dumping()
-- Who dumps this database. pg_dump sees the rows of the moment of its snapshot, but a TRUNCATE at once, until it has
-- locked the table: what was copied out of a table after that snapshot would be missing in the dump.
--
-- Returns: the process ids of the sessions of this database that call themselves pg_dump, as pg_dump does unless told
-- otherwise.
-- Raises: none
-- Locks: none
create or replace function weir_internal.dumping()
returns table (pid int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_stat_clear_snapshot(); -- the sessions of now, not those of this transaction's first look
    return query select a.pid from pg_stat_get_activity(null) a join pg_database d on d.oid = a.datid
        where d.datname = current_database() and a.application_name = 'pg_dump';
end
$$;

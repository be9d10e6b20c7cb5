-- weir_internal.being_dumped()
-- Whether pg_dump is at work in this database. It sees the rows of the moment of its snapshot, but a TRUNCATE at once,
-- until it has locked the table: what was copied out of a table after that snapshot would be missing in the dump.
--
-- Returns: whether a session of this database calls itself pg_dump, as pg_dump does unless told otherwise.
-- Raises: none
-- Locks: none
create or replace function weir_internal.being_dumped()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_stat_clear_snapshot(); -- the sessions of now, not those of this transaction's first look
    return exists (select from pg_stat_get_activity(null) a join pg_database d on d.oid = a.datid
                   where d.datname = current_database() and a.application_name = 'pg_dump');
end
$$;

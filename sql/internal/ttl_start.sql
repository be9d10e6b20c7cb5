-- weir_internal.ttl_start(g)
-- From when on a message must have been sent not to be past the queue's ttl.
--
-- Parameters:
--   g  the group
-- Returns: the time; -infinity without a ttl.
-- Raises: none
-- Locks: none
create or replace function weir_internal.ttl_start(g weir_internal.groups)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return case when g.ttl > interval '0' then weir_internal.clock() - g.ttl else '-infinity' end;
end
$$;

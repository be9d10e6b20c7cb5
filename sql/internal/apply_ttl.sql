-- weir_internal.apply_ttl(g)
-- A group as it stands now: what is older than the queue's ttl counts as sent before the group's beginning.
--
-- Parameters:
--   g  the group, as stored
-- Returns: the group.
-- Raises: none
-- Locks: none
create or replace function weir_internal.apply_ttl(g weir_internal.groups)
returns weir_internal.groups
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    g.since := greatest(g.since, weir_internal.ttl_start(g));
    return g;
end
$$;

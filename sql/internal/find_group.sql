-- weir_internal.find_group(q, p_group)
-- A group of a queue by its name.
--
-- Parameters:
--   q        the queue
--   p_group  name of the group
-- Returns: its row.
-- Raises: WR003
-- Locks: none
create or replace function weir_internal.find_group(q weir_internal.queues, p_group text)
returns weir_internal.groups
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    g weir_internal.groups;
begin
    select * into g from weir_internal.groups where queue_no = q.no and name = p_group;
    if not found then
        perform weir_internal.fail_unknown_group(q.name, p_group);
    end if;
    return g;
end
$$;

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
        raise exception 'queue "%" has no group %', q.name, coalesce('"' || left(p_group, 100) || '"', 'null')
            using errcode = 'WR003', hint = format('select weir.create_group(%L, %L)', q.name, left(p_group, 100));
    end if;
    return g;
end
$$;

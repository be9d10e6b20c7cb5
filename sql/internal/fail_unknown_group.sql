-- weir_internal.fail_unknown_group(p_queue, p_group)
-- Says that a queue has no group of a name, and how to make it, or which names there can be.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
-- Returns: never.
-- Raises: WR003, and has the hint of WR005 where no group can have the name
-- Locks: none
create or replace function weir_internal.fail_unknown_group(p_queue text, p_group text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'queue "%" has no group %', p_queue, coalesce('"' || left(p_group, 100) || '"', 'null')
        using errcode = 'WR003',
        hint = weir_internal.creation_hint('group', p_group, format('weir.create_group(%L, %L)', p_queue, p_group));
end
$$;

-- weir_internal.fail_unknown(p_queue)
-- Says that there is no queue of a name, and how to make it, or which names there can be.
--
-- Parameters:
--   p_queue  the name
-- Returns: never.
-- Raises: WR001, and has the hint of WR005 where no queue can have the name
-- Locks: none
create or replace function weir_internal.fail_unknown(p_queue text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'there is no queue %', coalesce('"' || left(p_queue, 100) || '"', 'null')
        using errcode = 'WR001',
        hint = weir_internal.creation_hint('queue', p_queue, format('weir.create_queue(%L)', p_queue));
end
$$;

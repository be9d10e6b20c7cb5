-- weir_internal.visible_queues()
-- The queues that the caller may look at: those it consumes from or administers.
--
-- Returns: names, in order.
-- Raises: none
-- Locks: none
create or replace function weir_internal.visible_queues()
returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select split_part(proname, ':', 2) from pg_proc
    where pronamespace = 'weir_internal'::regnamespace and starts_with(proname, 'describe:')
        and has_function_privilege(oid, 'execute')
    order by 1
$$;

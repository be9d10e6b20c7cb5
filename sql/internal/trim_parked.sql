-- weir_internal.trim_parked(q)
-- Gives back the space of `parked` when nothing is in it, so that what was there before costs receive nothing.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on `parked`, tried for 20 ms.
create or replace function weir_internal.trim_parked(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table text := format('weir_internal.q%s_parked', q.no);
    v_left boolean := true;
begin
    if pg_relation_size(v_table) > 0 then
        execute format('select exists (select from %s)', v_table) into v_left;
    end if;
    if v_left or not weir_internal.lock_or_skip(v_table, 'access exclusive') then
        return 0;
    end if;
    execute format('select exists (select from %s)', v_table) into v_left;
    if v_left then
        return 0;
    end if;
    execute format('truncate table %s', v_table);
    return 1;
end
$$;

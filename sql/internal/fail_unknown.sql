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
declare
    v_hint text := format('select weir.create_queue(%L)', p_queue);
begin
    begin
        perform weir_internal.check_name('queue', p_queue);
    exception when sqlstate 'WR005' then
        get stacked diagnostics v_hint = pg_exception_hint;
        v_hint := 'No queue has such a name. ' || v_hint;
    end;
    raise exception 'there is no queue %', coalesce('"' || left(p_queue, 100) || '"', 'null')
        using errcode = 'WR001', hint = v_hint;
end
$$;

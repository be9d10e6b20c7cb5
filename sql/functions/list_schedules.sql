-- weir.list_schedules(queue_name)
-- The schedules of queues that the caller consumes from or administers.
--
-- Parameters:
--   queue_name  the queue; null = all of those
-- Returns: one row a schedule, see weir.schedule_status.
-- Raises: WR001
-- Locks: none
create or replace function weir.list_schedules(queue_name text default null)
returns setof weir.schedule_status
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
    v_name text;
    v_gate regproc;
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.schedules(queue_name);
        return;
    end if;
    for v_queue in
        select list_schedules.queue_name where list_schedules.queue_name is not null
        union all
        select * from weir_internal.visible_queues() where list_schedules.queue_name is null
    loop
        v_name := null;
        begin
            v_name := weir_internal.gate('schedules', v_queue);
            v_gate := to_regproc(v_name);
            return query execute 'select * from ' || v_name || '()';
        exception
            when sqlstate 'WR001' or undefined_function or internal_error then
                if list_schedules.queue_name is not null or not weir_internal.was_dropped(v_name, v_gate) then
                    raise;
                end if;
        end;
    end loop;
end
$$;

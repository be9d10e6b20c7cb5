-- weir.pause_schedule(name)
-- Stops a schedule until resume_schedule. What is due meanwhile is not made up for.
--
-- Parameters:
--   name  the schedule
-- Returns: nothing.
-- Raises: WR001, WR053
-- Locks: the schedule's row, until the transaction ends.
create or replace function weir.pause_schedule(name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text := weir_internal.queue_of_schedule(name);
begin
    if v_queue is null
        or weir_internal.ask_admin(v_queue, 'pause_schedule', jsonb_build_object('name', name)) = 0 then
        raise exception 'there is no schedule %', coalesce('"' || left(name, 100) || '"', 'null')
            using errcode = 'WR053', hint = 'select name from weir.list_schedules()';
    end if;
end
$$;

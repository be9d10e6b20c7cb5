-- weir_internal.change_schedule(queue_name, p_verb, p_name)
-- Pauses, resumes or drops a schedule of a queue. What was due during a pause is not made up for.
--
-- Parameters:
--   queue_name  the queue
--   p_verb      'unschedule', 'pause_schedule' or 'resume_schedule'
--   p_name      the schedule
-- Returns: how many schedules it changed or dropped, 0 or 1.
-- Raises: WR001
-- Locks: the schedule's row, until the transaction ends.
create or replace function weir_internal.change_schedule(queue_name text, p_verb text, p_name text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    s weir_internal.schedules;
begin
    select * into s from weir_internal.schedules where name = p_name and queue_no = q.no for update;
    if s.name is null then
        return 0;
    end if;
    if p_verb = 'unschedule' then
        delete from weir_internal.schedules where name = p_name;
    elsif p_verb = 'pause_schedule' then
        update weir_internal.schedules set paused = true where name = p_name and not paused;
    else
        update weir_internal.schedules
        set paused = false, next_at = greatest(next_at, weir_internal.following(s, weir_internal.clock()))
        where name = p_name and paused;
    end if;
    return 1;
end
$$;

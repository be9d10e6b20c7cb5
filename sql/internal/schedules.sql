-- weir_internal.schedules(p_queue)
-- The schedules of a queue, or of all.
--
-- Parameters:
--   p_queue  name of the queue; null = all
-- Returns: one row a schedule, see weir.schedule_status.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_internal.schedules(p_queue text)
returns setof weir.schedule_status
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
begin
    if p_queue is not null then
        q := weir_internal.find_queue(p_queue);
    end if;
    return query
    select s.name, w.name, s.cron, s.every, s.time_zone, s.missed, s.kind, s.args, s.key, s.headers, s.priority,
        s.is_unique, s.tracked, s.paused, s.next_at, s.last_at, s.last_id, s.error, s.created_at
    from weir_internal.schedules s
    join weir_internal.queues w on w.no = s.queue_no
    where p_queue is null or s.queue_no = q.no
    order by w.name, s.name;
end
$$;

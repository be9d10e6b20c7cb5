-- weir_internal.queue_of_schedule(p_name)
-- The queue of a schedule, for those who administer some queue.
--
-- Parameters:
--   p_name  the schedule
-- Returns: the queue's name; null when there is no such schedule.
-- Raises: none
-- Locks: none
create or replace function weir_internal.queue_of_schedule(p_name text)
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select q.name from weir_internal.schedules s join weir_internal.queues q on q.no = s.queue_no where s.name = p_name
$$;

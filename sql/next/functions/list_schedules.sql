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
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.list_schedules(queue_name);
    end if;
end
$$;

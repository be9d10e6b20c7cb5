-- weir.unschedule(name)
-- Drops a schedule. Jobs that it has enqueued stay.
--
-- Parameters:
--   name  the schedule
-- Returns: whether it was there.
-- Raises: WR001
-- Locks: the schedule's row, until the transaction ends.
create or replace function weir.unschedule(name text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text := weir_internal.queue_of_schedule(name);
begin
    if not has_schema_privilege('weir_log', 'usage') then
        return null;
    end if;
    return v_queue is not null
        and weir_internal.change_schedule(v_queue, 'unschedule', name) > 0;
end
$$;

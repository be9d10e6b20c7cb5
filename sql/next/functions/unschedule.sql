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
    return v_queue is not null
        and weir_internal.ask_admin(v_queue, 'unschedule', jsonb_build_object('name', name)) > 0;
end
$$;

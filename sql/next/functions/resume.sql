-- weir.resume(queue_name, group_name)
-- Ends a pause. A group that was paused by its name is resumed by its name, and a queue as a whole: a group is
-- delivered messages when neither it nor its queue is paused.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group; null = the whole queue
-- Returns: nothing.
-- Raises: WR001, WR003
-- Locks: the queue's administration lock, until the transaction ends.
create or replace function weir.resume(queue_name text, group_name text default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'resume', jsonb_build_object('group_name', group_name));
end
$$;

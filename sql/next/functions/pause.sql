-- weir.pause(queue_name, group_name)
-- Stops delivery to a group, or to all groups of a queue, those created later included. Receives return nothing; what
-- is claimed can still be acked, nacked, rejected and extended. Leases end as ever, and what they held is delivered
-- again after the resume. Sending goes on.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group; null = the whole queue
-- Returns: nothing.
-- Raises: WR001, WR003
-- Locks: the queue's administration lock, until the transaction ends.
create or replace function weir.pause(queue_name text, group_name text default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'pause', jsonb_build_object('group_name', group_name));
end
$$;

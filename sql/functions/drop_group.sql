-- weir.drop_group(queue_name, group_name)
-- Drops a group with its claims and dead letters. The messages stay for the other groups.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
-- Returns: nothing.
-- Raises: WR001, WR003, WR012
-- Locks: the queue's administration lock, the locks of the group's lanes, its settling lock, the lock of the log's
-- upkeep, shared: until the transaction ends. It waits for transactions that have received of the group, or given
-- messages back to it.
create or replace function weir.drop_group(queue_name text, group_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'drop_group', jsonb_build_object('group_name', group_name));
end
$$;

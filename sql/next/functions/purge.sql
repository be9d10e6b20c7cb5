-- weir.purge(queue_name, group_name)
-- Drops what a group has not finished: waiting messages, delayed ones, retries, and what is under a claim, so that an
-- ack that comes yet is told that its claim is gone. Dead letters stay. Space comes back by maintain.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group; null = all groups
-- Returns: how many messages it dropped, counted once a group. The count is exact but for messages that another
-- transaction is settling at the same moment. What is sent, but not committed, when purge is called is not dropped.
-- Raises: WR001, WR003, WR012
-- Locks: the queue's administration lock and the locks of the groups' lanes, until the transaction ends: it waits for
-- transactions that are receiving.
create or replace function weir.purge(queue_name text, group_name text default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_internal.ask_admin(queue_name, 'purge', jsonb_build_object('group_name', group_name));
end
$$;

-- pgmq.purge_queue(queue_name)
-- Drops all messages of a queue, also those that a reader has. The archive stays, and so do the ids: the next message
-- has the next one.
--
-- Parameters:
--   queue_name  the queue
-- Returns: how many there were.
-- Raises: 42P01, WR012
-- Locks: as weir.purge.
create or replace function pgmq.purge_queue(queue_name text)
returns bigint
language plpgsql
as $$
declare
    v_count bigint := (pgmq._count(queue_name)).n;
begin
    perform weir.purge('pgmq.' || lower(queue_name), 'default');
    return v_count;
end
$$;

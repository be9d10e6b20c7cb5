-- pgmq.acquire_queue_lock(queue_name)
-- Makes those who create or drop a queue wait for each other.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: an advisory lock with PGMQ's key, until the transaction ends.
create or replace function pgmq.acquire_queue_lock(queue_name text)
returns void
language plpgsql
as $$
begin
    perform pg_advisory_xact_lock(hashtext('pgmq.queue_' || queue_name));
end
$$;

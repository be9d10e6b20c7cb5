-- pgmq.create(queue_name), pgmq.create_non_partitioned(queue_name), pgmq.create_unlogged(queue_name)
-- Creates a queue. One that is there is left as it is, with a NOTICE for each of its relations. An unlogged one is
-- logged here all the same: it loses nothing in a crash.
--
-- Parameters:
--   queue_name  up to 47 characters
-- Returns: nothing.
-- Raises: P0001
-- Locks: that of pgmq.acquire_queue_lock, until the transaction ends.
create or replace function pgmq.create(queue_name text)
returns void
language plpgsql
as $$
begin
    perform pgmq._open_queue(queue_name, false, false);
end
$$;
create or replace function pgmq.create_non_partitioned(queue_name text)
returns void
language plpgsql
as $$
begin
    perform pgmq._open_queue(queue_name, false, false);
end
$$;
create or replace function pgmq.create_unlogged(queue_name text)
returns void
language plpgsql
as $$
begin
    perform pgmq._open_queue(queue_name, false, true);
end
$$;

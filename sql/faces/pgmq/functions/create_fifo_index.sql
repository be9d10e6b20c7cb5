-- pgmq.create_fifo_index(queue_name), pgmq.create_fifo_indexes_all()
-- Nothing is made: grouped reads need no index here.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: 42P01
-- Locks: none
create or replace function pgmq.create_fifo_index(queue_name text)
returns void
language plpgsql
as $$
begin
    perform pgmq._find(queue_name);
end
$$;
create or replace function pgmq.create_fifo_indexes_all()
returns void
language plpgsql
as $$
begin
    perform pgmq._find(m.queue_name) from pgmq.meta m;
end
$$;

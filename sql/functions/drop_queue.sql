-- weir.drop_queue(queue_name)
-- Drops a queue with all its messages, groups, dead letters, bindings and the rights on it, at once, however much it
-- holds; space comes back by maintain. Calls under way end as they began.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: WR001
-- Locks: the queue's administration and the settling locks of its groups, until the transaction ends: it waits for
-- transactions that have given messages back. Senders and consumers are not held up, nor are other queues.
create or replace function weir.drop_queue(queue_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'drop_queue', '{}');
end
$$;

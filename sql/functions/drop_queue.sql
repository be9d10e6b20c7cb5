-- weir.drop_queue(queue_name)
-- Drops a queue with all its messages, groups, dead letters, bindings and the rights on it.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: WR001
-- Locks: ACCESS EXCLUSIVE on the queue's tables: it waits for every transaction that used the queue, as long as the
-- session's lock_timeout allows.
create or replace function weir.drop_queue(queue_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'drop_queue', '{}');
end
$$;

-- weir.rename_queue(queue_name, new_name)
-- Gives a queue another name. Its messages, claims, groups, dead letters, bindings and rights stay as they are, and a
-- claim taken before is acked after under the new name. Calls under way end as they began; from the commit on the old
-- name is unknown (WR001) and free for another queue. Who waits for a wake-up under the old name is woken to be told.
--
-- Parameters:
--   queue_name  the queue
--   new_name    1 to 47 of a-z, 0-9, _, - and .
-- Returns: nothing.
-- Raises: WR001, WR002, WR005
-- Locks: the queue's administration lock and the one that create_queue takes, until the transaction ends. Senders and
-- consumers are not held up.
create or replace function weir.rename_queue(queue_name text, new_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'rename_queue', jsonb_build_object('new_name', new_name));
end
$$;

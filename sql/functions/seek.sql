-- weir.seek(queue_name, group_name, "position")
-- Moves a group to another place in the log: back, to be delivered again what is still kept (see the queue's
-- retention), or forward, to pass over what waits. What the group held besides, under claims, as retries or parked, is
-- ended: it comes again when the new place lies before it, and not otherwise. Messages that were sent with a delay are
-- not replayed; those not due yet still come. Dead letters stay.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   position    'start' = the oldest message kept; 'end' = what is committed from now on; a timestamp = what was sent
--               at or after it; a message's id = that message, and in every lane what follows its transaction
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR012, WR018
-- Locks: the queue's administration lock, the locks of the group's lanes and of its claims, the lock of the log's
-- upkeep, shared: until the transaction ends. It waits for transactions that are receiving or settling.
create or replace function weir.seek(queue_name text, group_name text, "position" text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'seek',
        jsonb_build_object('group_name', group_name, 'position', "position"));
end
$$;

-- weir.get(queue_name, id)
-- Shows one message, wherever in the queue it is, and how each group stands to it; claims nothing. It reads all that
-- the log has of the queue, by its index, which is for people who look, not for programs that poll.
--
-- Parameters:
--   queue_name  the queue
--   id          the message
-- Returns: one row, or none when the queue does not hold the message, or not any more. `states` has a member for each
-- group that the message is for: waiting (it can be delivered now, also when it is due again or a lease has ended),
-- claimed (with a consumer), delayed (not due), parked (it, or one of its key ahead of it, is in trouble; or its key
-- waits for its turn), dead (a dead letter) or done (the group will not be delivered it again). `details` says what is
-- known besides: see weir.stored_message.
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir.get(queue_name text, id bigint)
returns setof weir.stored_message
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.get(queue_name, array[id]);
    else
        return query execute 'select * from ' || weir_internal.call('get', queue_name, '$1')
        using array[id];
    end if;
end
$$;

-- weir.get(queue_name, id)
-- Shows one message, wherever in the queue it is, and how each group stands to it; claims nothing. It reads the log and
-- `later` from end to end, which is for people who look, not for programs that poll.
--
-- Parameters:
--   queue_name  the queue
--   id          the message
-- Returns: one row, or none when the queue does not hold the message, or not any more. `states` has a member for each
-- group that the message is for: waiting (in the log, also when it is due and has still to be claimed), claimed (with a
-- consumer, or given back by the end of a lease), delayed (not due, or due and never claimed), parked (behind trouble
-- with its key), dead (a dead letter) or done (the group will not be delivered it again).
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir.get(queue_name text, id bigint)
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute 'select * from ' || weir_internal.queue_function('get', queue_name) || '(array[$1])'
    using id;
end
$$;

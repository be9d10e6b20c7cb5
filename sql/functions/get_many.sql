-- weir.get_many(queue_name, ids)
-- Shows several messages, as weir.get shows one; the log is read once for all of them.
--
-- Parameters:
--   queue_name  the queue
--   ids         the messages, 1 to 1,000
-- Returns: one row for each of them that the queue holds, in the order of the ids; see weir.get.
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir.get_many(queue_name text, ids bigint[])
returns setof weir.stored_message
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.get(queue_name, ids);
    else
        return query execute 'select * from ' || weir_internal.call('get', queue_name, '$1')
        using ids;
    end if;
end
$$;

-- weir.peek(queue_name, group_name, max)
-- Shows messages that wait for a group, without claiming them: what is due of the delayed ones and retries is not
-- shown.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: messages by id; claim_id is null and attempt counts the deliveries so far.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: none
create or replace function weir.peek(queue_name text, group_name text default 'default', max int default 10)
returns setof weir.message
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.peek(queue_name, group_name, max);
    else
        return query execute 'select * from ' || weir_internal.call('peek', queue_name, '$1, $2')
        using group_name, max;
    end if;
end
$$;

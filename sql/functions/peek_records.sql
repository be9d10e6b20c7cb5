-- weir.peek_records(queue_name, group_name, max)
-- Peek for programs: the same messages with their payloads as sent, one a record. See weir.message_record.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: records by id; claim_id is null and attempt counts the deliveries so far.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: none
create or replace function weir.peek_records(queue_name text, group_name text default 'default', max int default 10)
returns setof weir.message_record
language plpgsql
as $$
declare
    v_records weir.message_record[];
begin
    if weir_internal.direct(queue_name) then
        v_records := weir_log.peek(queue_name, group_name, max);
    else
        execute 'select ' || weir_internal.call('peek', queue_name, '$1, $2') into v_records using group_name, max;
    end if;
    return query select * from pg_catalog.unnest(v_records);
end
$$;

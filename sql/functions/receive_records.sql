-- weir.receive_records(queue_name, group_name, max, lease)
-- Receive for programs: the same messages, many in one row. See weir.message_record.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
--   lease       1 millisecond to 7 days
-- Returns: records.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: as weir.receive.
create or replace function weir.receive_records(
    queue_name text,
    group_name text default 'default',
    max int default 1,
    lease interval default '30 seconds')
returns setof weir.message_record
language plpgsql
as $$
declare
    v_records weir.message_record[];
begin
    if weir_internal.direct(queue_name) then
        v_records := weir_log.receive(queue_name, group_name, max, lease);
    else
        execute 'select ' || weir_internal.call('receive', queue_name, '$1, $2, $3')
        into v_records using group_name, max, lease;
    end if;
    return query select * from pg_catalog.unnest(v_records);
end
$$;

-- weir.pop_records(queue_name, group_name, max)
-- Pop for programs: the same messages, many in one row, with their payloads as sent. See weir.message_record.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: records.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: as weir.receive.
create or replace function weir.pop_records(queue_name text, group_name text default 'default', max int default 1)
returns setof weir.message_record
language plpgsql
as $$
declare
    o weir.message_record;
    v_claim bigint;
begin
    for o in select * from weir.receive_records(pop_records.queue_name, pop_records.group_name, pop_records.max) loop
        v_claim := o.claim_id;
        return next o;
    end loop;
    if v_claim is not null then
        perform weir.ack_all(pop_records.queue_name, v_claim);
    end if;
end
$$;

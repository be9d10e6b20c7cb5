-- weir.pop(queue_name, group_name, max)
-- Receive and ack at once: each message is delivered at most once, and is lost when its consumer fails.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: the messages.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: as weir.receive.
create or replace function weir.pop(queue_name text, group_name text default 'default', max int default 1)
returns setof weir.message
language plpgsql
as $$
declare
    m weir.message;
    v_claim bigint;
begin
    for m in select * from weir.receive(pop.queue_name, pop.group_name, pop.max) loop
        v_claim := m.claim_id;
        return next m;
    end loop;
    if v_claim is not null then
        perform weir.ack_all(pop.queue_name, v_claim);
    end if;
end
$$;

-- weir.ack_and_receive(queue_name, claim_id, ids, group_name, max, lease)
-- Finishes messages of the last claim and receives the next ones, in one call and one transaction: for a loop that
-- works at what it received before it asks again.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from the receive before; null, as ids then: there is nothing to finish
--   ids         messages of that claim; what is not named is not finished
--   group_name  the group to receive for
--   max         1 to 10,000 messages at most
--   lease       1 millisecond to 7 days
-- Returns: the messages, as weir.receive. When the ack fails, nothing is received.
-- Raises: WR001, WR003, WR006, WR009, WR010, WR011, WR012
-- Locks: as weir.ack and weir.receive, until the transaction ends.
create or replace function weir.ack_and_receive(
    queue_name text,
    claim_id bigint,
    ids bigint[],
    group_name text default 'default',
    max int default 1,
    lease interval default '30 seconds')
returns setof weir.message
language plpgsql
as $$
begin
    if claim_id is not null or ids is not null then
        perform weir.ack(queue_name, claim_id, ids);
    end if;
    return query select * from weir.receive(queue_name, group_name, max, lease);
end
$$;

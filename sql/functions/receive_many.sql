-- weir.receive_many(queue_name, group_name, maxes, leases)
-- Many receives in one call, for a program that receives for many consumers: what each is given it holds under a claim
-- of its own, with its own lease. The first is served first.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   maxes       for each consumer, how many messages at most; 10,000 in all
--   leases      for each consumer, 1 millisecond to 7 days
-- Returns: records, see weir.message_record. Of a record's messages the first counts[1] are for consumer requests[1]
-- (1 is the first) under the claim claim_ids[1], the next counts[2] for requests[2], and so on. The record's own
-- claim_id is not to be used.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: as weir.receive.
create or replace function weir.receive_many(
    queue_name text, group_name text, maxes int[], leases interval[])
returns table (messages weir.message_record, requests int[], claim_ids bigint[], counts int[])
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.receive_many(queue_name, group_name, maxes, leases);
    else
        return query execute 'select * from ' || weir_internal.call('receive_many', queue_name, '$1, $2, $3')
        using group_name, maxes, leases;
    end if;
end
$$;

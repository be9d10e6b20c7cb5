-- weir.ack_many(queue_name, claim_ids, ids, requests)
-- The acks of many consumers in one call, for a program that acknowledges for many. It never waits and one consumer's
-- mistake does not concern the others: what is not plain is left undone, to be asked for alone.
--
-- Parameters:
--   queue_name  the queue
--   claim_ids   from receive, up to 10,000; one may occur several times
--   ids         for each claim the messages that are finished, as '{[7000,7001)}'; '{(,)}' = all that are left of it
--   requests    null, or for each claim the number of the request it is part of: a request is done whole or not at all
-- Returns: for each claim how many messages were finished, 0 when they were finished already; null = not done: weir.ack
-- does it or says why not.
-- Raises: WR001, WR006, WR012
-- Locks: the claims, until the transaction ends: they cannot expire meanwhile.
create or replace function weir.ack_many(
    queue_name text, claim_ids bigint[], ids int8multirange[], requests int[] default null)
returns int[]
language plpgsql
as $$
declare
    v_counts int[];
begin
    if weir_internal.direct(queue_name) then
        return weir_log.ack_many(queue_name, claim_ids, ids, requests);
    end if;
    execute 'select ' || weir_internal.call('ack_many', queue_name, '$1, $2, $3')
    into v_counts using claim_ids, ids, requests;
    return v_counts;
end
$$;

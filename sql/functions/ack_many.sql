-- weir.ack_many(queue_name, claim_ids, ids, requests)
-- The acks of many consumers in one call, for a program that acknowledges for many. It never waits and one consumer's
-- mistake does not concern the others: what is not plain is left undone, to be asked for alone.
--
-- Parameters:
--   queue_name  the queue
--   claim_ids   from receive, up to 10,000; one may occur several times
--   ids         null, or for each claim some of its messages; null elements = all of the claim
--   requests    null, or for each claim the number of the request it is part of: a request is done whole or not at all
-- Returns: for each claim how many messages were finished; null = not done: weir.ack does it or says why not.
-- Raises: WR001, WR006, WR012
-- Locks: the claims, until the transaction ends: they cannot expire meanwhile.
create or replace function weir.ack_many(
    queue_name text, claim_ids bigint[], ids int8multirange[] default null, requests int[] default null)
returns int[]
language plpgsql
as $$
declare
    v_counts int[];
begin
    execute 'select ' || weir_internal.queue_function('ack_many', queue_name) || '($1, $2, $3)'
    into v_counts using claim_ids, ids, requests;
    return v_counts;
end
$$;

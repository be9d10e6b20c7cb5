-- weir.settle_many(queue_name, verbs, claim_ids, ids, delays, reasons, requests)
-- The nacks, releases, snoozes and rejects of many consumers in one call, for a program that settles for many. Each has
-- the outcome that a call of its own would have. It waits for no claim, and one consumer's mistake does not concern the
-- others: what is not plain is left undone, to be asked for alone.
--
-- Parameters:
--   queue_name  the queue
--   verbs       for each claim 'nack', 'release', 'snooze' or 'reject'; also 'ack'
--   claim_ids   from receive, up to 10,000; one may occur several times
--   ids         for each claim messages of it, as '{[7000,7001)}'; '{(,)}' = all that are left of it, but not to reject
--   delays      null, or for each claim the wait before the next delivery: of a nack, null = the group's backoff; of a
--               snooze, never null; of the others of no meaning
--   reasons     null, or for each claim what is kept with a dead letter
--   requests    null, or for each claim the number of the request it is part of: a request is done whole or not at all
-- Returns: for each claim how many messages were settled, 0 when they were finished already; null = not done: the
-- verb's own function does it or says why not.
-- Raises: WR001, WR006, WR010 when a group is dropped at this moment, WR012, WR016
-- Locks: the claims, until the transaction ends.
create or replace function weir.settle_many(
    queue_name text, verbs text[], claim_ids bigint[], ids int8multirange[],
    delays interval[] default null, reasons text[] default null, requests int[] default null)
returns int[]
language plpgsql
as $$
declare
    v_counts int[];
begin
    if weir_internal.direct(queue_name) then
        return weir_log.settle_many(queue_name, verbs, claim_ids, ids, delays, reasons, requests);
    end if;
    execute 'select ' || weir_internal.call('settle_many', queue_name, '$1, $2, $3, $4, $5, $6')
    into v_counts using verbs, claim_ids, ids, delays, reasons, requests;
    return v_counts;
end
$$;

-- weir.extend_many(queue_name, claim_ids, leases, requests)
-- The extends of many consumers in one call, for a program that extends for many. It never waits and one consumer's
-- mistake does not concern the others: what is not plain is left undone, to be asked for alone.
--
-- Parameters:
--   queue_name  the queue
--   claim_ids   from receive, up to 10,000
--   leases      for each claim, time from now, 1 millisecond to 7 days
--   requests    null, or for each claim the number of the request it is part of: a request is done whole or not at all
-- Returns: for each claim its deadline; null = not done: weir.extend does it or says why not.
-- Raises: WR001, WR006, WR012
-- Locks: the claims, until the transaction ends.
create or replace function weir.extend_many(
    queue_name text, claim_ids bigint[], leases interval[], requests int[] default null)
returns timestamptz[]
language plpgsql
as $$
declare
    v_deadlines timestamptz[];
begin
    if weir_internal.direct(queue_name) then
        return weir_log.extend_many(queue_name, claim_ids, leases, requests);
    end if;
    execute 'select ' || weir_internal.call('extend_many', queue_name, '$1, $2, $3')
    into v_deadlines using claim_ids, leases, requests;
    return v_deadlines;
end
$$;

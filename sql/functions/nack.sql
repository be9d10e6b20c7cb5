-- weir.nack(queue_name, claim_id, ids, delay, reason)
-- Gives messages back, to be delivered again later; past the group's max_attempts they become dead letters.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   ids         messages of that claim; null = what of it is not finished yet
--   delay       wait before the next delivery, 0 = at once; null = the group's backoff
--   reason      kept with a dead letter
-- Returns: how many were given back; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends.
create or replace function weir.nack(
    queue_name text, claim_id bigint, ids bigint[] default null, delay interval default null, reason text default null)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.nack(queue_name, claim_id, ids, delay, reason);
    end if;
    execute 'select ' || weir_internal.call('nack', queue_name, '$1, $2, $3, $4')
    into v_count using claim_id, ids, delay, reason;
    return v_count;
end
$$;

-- weir.snooze(queue_name, claim_id, ids, delay)
-- Gives messages back for later without counting this delivery: for a job that finds that its time has not come.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   ids         messages of that claim; null = all that are left
--   delay       wait before the next delivery, 0 to 10 years
-- Returns: how many were given back; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends.
create or replace function weir.snooze(
    queue_name text, claim_id bigint, ids bigint[] default null, delay interval default '1 minute')
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.snooze(queue_name, claim_id, ids, delay);
    end if;
    execute 'select ' || weir_internal.call('snooze', queue_name, '$1, $2, $3')
    into v_count using claim_id, ids, delay;
    return v_count;
end
$$;

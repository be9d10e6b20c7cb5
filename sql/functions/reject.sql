-- weir.reject(queue_name, claim_id, ids, reason)
-- Makes messages dead letters at once, and no others of the claim.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   ids         messages of that claim
--   reason      kept with the dead letter
-- Returns: how many were rejected; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends.
create or replace function weir.reject(
    queue_name text, claim_id bigint, ids bigint[], reason text default null)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.reject(queue_name, claim_id, ids, reason);
    end if;
    execute 'select ' || weir_internal.call('reject', queue_name, '$1, $2, $3')
    into v_count using claim_id, ids, reason;
    return v_count;
end
$$;

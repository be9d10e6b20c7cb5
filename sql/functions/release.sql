-- weir.release(queue_name, claim_id, ids)
-- Gives messages back unused: they are delivered again at once, and this delivery is not counted among their attempts.
-- For a program that claimed more than its workers began with, or whose client went away.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   ids         messages of that claim; null = what of it is not finished yet
-- Returns: how many were given back; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends.
create or replace function weir.release(
    queue_name text, claim_id bigint, ids bigint[] default null)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.release(queue_name, claim_id, ids);
    end if;
    execute 'select ' || weir_internal.call('release', queue_name, '$1, $2')
    into v_count using claim_id, ids;
    return v_count;
end
$$;

-- weir.ack_all(queue_name, claim_id)
-- Finishes all of a claim that is not finished yet.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
-- Returns: how many were finished; 0 when all were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR012
-- Locks: the claim, until the transaction ends: it cannot expire meanwhile.
create or replace function weir.ack_all(queue_name text, claim_id bigint)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.ack_all(queue_name, claim_id);
    end if;
    execute 'select ' || weir_internal.call('ack_all', queue_name, '$1') into v_count using claim_id;
    return v_count;
end
$$;

-- weir.ack(queue_name, claim_id, id), weir.ack(queue_name, claim_id, ids)
-- Finishes messages, and no others of the claim: the group is not delivered them again. In the transaction that does
-- the work, both happen or neither.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   id          a message of that claim
--   ids         messages of that claim
-- Returns: how many were finished; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends: it cannot expire meanwhile.
create or replace function weir.ack(queue_name text, claim_id bigint, id bigint)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.ack(queue_name, claim_id, id);
    end if;
    execute 'select ' || weir_internal.call('ack', queue_name, '$1, $2') into v_count using claim_id, id;
    return v_count;
end
$$;
create or replace function weir.ack(queue_name text, claim_id bigint, ids bigint[])
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.ack_ids(queue_name, claim_id, ids);
    end if;
    execute 'select ' || weir_internal.call('ack_ids', queue_name, '$1, $2') into v_count using claim_id, ids;
    return v_count;
end
$$;

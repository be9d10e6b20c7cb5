-- weir.ack(queue_name, claim_id, ids)
-- Finishes messages: the group is not delivered them again. In the transaction that does the work, both happen or
-- neither.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   ids         messages of that claim; null = all of it
-- Returns: how many were finished; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012
-- Locks: the claim, until the transaction ends: it cannot expire meanwhile.
create or replace function weir.ack(queue_name text, claim_id bigint, ids bigint[] default null)
returns int
language plpgsql
as $$
declare
    v_count int;
begin
    execute 'select ' || weir_internal.queue_function('ack', queue_name) || '($1, $2)'
    into v_count using claim_id, ids;
    return v_count;
end
$$;

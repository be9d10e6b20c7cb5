-- weir.finish(queue_name, claim_id, id, result)
-- Finishes a job, as ack does, and keeps its result where it is tracked. In the transaction that does the work, all of
-- it happens or none.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   id          the job: a message of that claim
--   result      any JSON value, up to the queue's message_bytes_max; not kept of a job that is not tracked
-- Returns: 1, or 0 when it was finished already; then nothing changes.
-- Raises: WR001, WR006, WR008, WR009, WR010, WR011, WR012, WR016, and what enqueueing raises where a workflow goes on
-- Locks: the claim and the job, until the transaction ends.
create or replace function weir.finish(queue_name text, claim_id bigint, id bigint, result jsonb default null)
returns int
language plpgsql
as $$
declare
    v_done bigint[];
begin
    if weir_internal.direct(queue_name) then
        return pg_catalog.cardinality(weir_log.finish(queue_name, claim_id, array[id], array[result]));
    end if;
    execute 'select ' || weir_internal.call('finish', queue_name, '$1, array[$2], array[$3]')
    into v_done using claim_id, id, result;
    return pg_catalog.cardinality(v_done);
end
$$;

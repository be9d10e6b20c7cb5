-- weir.progress(queue_name, claim_id, id, progress, lease)
-- Tells how far a job is, and learns whether it was cancelled. Only of a tracked job is it kept, and only what was told
-- last is shown.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   id          the job: a message of that claim
--   progress    any JSON value, up to the queue's message_bytes_max; null = tell nothing, only ask
--   lease       null, or new time for the claim, as extend takes it
-- Returns: true = go on; false = it was cancelled: stop, and finish or reject it.
-- Raises: WR001, WR006, WR008, WR009, WR010, WR011, WR012
-- Locks: with a lease, the claim, until the transaction ends.
create or replace function weir.progress(
    queue_name text, claim_id bigint, id bigint, progress jsonb default null, lease interval default null)
returns boolean
language plpgsql
as $$
declare
    v_go_on boolean;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.progress(queue_name, claim_id, id, progress, lease);
    end if;
    execute 'select ' || weir_internal.call('progress', queue_name, '$1, $2, $3, $4')
    into v_go_on using claim_id, id, progress, lease;
    return v_go_on;
end
$$;

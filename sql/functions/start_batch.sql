-- weir.start_batch(queue_name, jobs, callback, name)
-- Starts a batch, in the caller's transaction: jobs, and one that is enqueued when all of them have ended, however they
-- did, exactly once, in the transaction that ends the last. It is a workflow, see weir.start_workflow.
--
-- Parameters:
--   queue_name  the queue
--   jobs        JSON objects as weir.start_workflow takes them
--   callback    another such; its job is told how many ended how: the header "job" has
--               "ended": {"done": ..., "failed": ..., "cancelled": ...}
--   name        as weir.start_workflow takes it
-- Returns: the workflow.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020, WR050, WR055
-- Locks: as weir.start_workflow.
create or replace function weir.start_batch(queue_name text, jobs jsonb[], callback jsonb, name text default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir.start_workflow(queue_name, jobs || case when jsonb_typeof(callback) = 'object'
        then '{"name": "callback", "after_all": true}' || callback else callback end, name);
end
$$;

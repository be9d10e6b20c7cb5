-- weir.start_workflow(queue_name, steps, name)
-- Starts a workflow, in the caller's transaction: jobs of which some come after others. The job of a step is enqueued
-- in the transaction that finishes the last of those before it, and is told their results. What is done is kept, so a
-- step that is done is not run again, whatever is restarted. A step that fails for good stops what comes after it until
-- its dead letter is redriven.
--
-- A job of a workflow has the header "job": {"workflow": ..., "step": name, "results": {step: result, ...}}. Finish it
-- by weir.finish; one that is acknowledged otherwise counts as done, without a result, as soon as maintain notices.
--
-- Parameters:
--   queue_name  the queue
--   steps       1 to 100,000 JSON objects: {"kind": text, "name"?: text, "args"?: any, "key"?: text,
--               "headers"?: object, "after"?: [names of steps before it in this list], "after_all"?: true}; one of
--               "after_all" comes when all others have ended, however they did, and is told how many did how ("ended")
--   name        null, or a name: when the queue has a workflow of this name, nothing is started
-- Returns: the workflow, see weir.workflow; the one that has the name.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020, WR050, WR055
-- Locks: as enqueue; the name, until the transaction ends.
create or replace function weir.start_workflow(queue_name text, steps jsonb[], name text default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_workflow bigint;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.start_workflow(queue_name, steps, name);
    end if;
    execute 'select ' || weir_internal.call('start_workflow', queue_name, '$1, $2')
    into v_workflow using steps, name;
    return v_workflow;
end
$$;

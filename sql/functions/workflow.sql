-- weir.workflow(queue_name, workflow)
-- Shows the steps of a workflow. Whoever may enqueue jobs may ask.
--
-- Parameters:
--   queue_name  the queue
--   workflow    as start_workflow, start_chain or start_batch returned it
-- Returns: one row a step, in order, see weir.workflow_step; none when the queue has no such workflow, or when it ended
-- longer ago than the queue's job_retention.
-- Raises: WR001
-- Locks: none
create or replace function weir.workflow(queue_name text, workflow bigint)
returns setof weir.workflow_step
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.workflow(queue_name, workflow);
    else
        return query execute 'select * from ' || weir_internal.gate('workflow', queue_name) || '($1)'
        using workflow;
    end if;
end
$$;

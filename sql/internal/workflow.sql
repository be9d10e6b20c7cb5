-- weir_internal.workflow(p_queue, p_workflow), weir_internal.workflows(p_queue, p_max, p_before)
-- workflow: the steps of a workflow. workflows: a queue's workflows, the newest first, for its gate.
--
-- Parameters:
--   p_queue     name of the queue
--   p_workflow  the workflow
--   p_max       1 to 1,000 rows at most
--   p_before    only workflows below this; null: from the newest
-- Returns: workflow: one row a step, in order; none when the queue has no such workflow. workflows: one row a workflow.
-- Raises: WR001, WR019; workflows: WR006
-- Locks: none
create or replace function weir_internal.workflow(p_queue text, p_workflow bigint)
returns setof weir.workflow_step
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
begin
    return query
    select s.no, s.name, s.kind,
        (select array_agg(b.name order by b.no) from weir_internal.workflow_steps b
         where b.workflow = s.workflow and b.no = any(s.after)),
        coalesce((array[null, 'done', 'cancelled', null, 'failed'])[e.what],
            case when j.id is null then 'planned' else 'enqueued' end),
        j.id, e.result, e.at
    from weir_internal.workflows w
    join weir_internal.workflow_steps s on s.workflow = w.no
    left join weir_internal.workflow_jobs j on j.workflow = s.workflow and j.no = s.no
    left join lateral (
        select * from weir_internal.workflow_ends e where e.workflow = s.workflow and e.no = s.no
        order by e.seq desc limit 1) e on true
    where w.no = p_workflow and w.queue_no = q.no
    order by s.no;
end
$$;
create or replace function weir_internal.workflows(p_queue text, p_max int, p_before bigint)
returns setof weir.workflow_status
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select * from weir_internal.list_workflows(p_queue, p_max, p_before)
$$;

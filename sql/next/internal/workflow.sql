-- weir_internal.workflow(p_queue, p_workflow)
-- The steps of a workflow.
--
-- Parameters:
--   p_queue     name of the queue
--   p_workflow  the workflow
-- Returns: one row a step, in order; none when the queue has no such workflow.
-- Raises: WR001, WR019
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

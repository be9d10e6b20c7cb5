-- weir_log.send_steps(q, p_workflow, p_steps)
-- Enqueues the jobs of steps. Of those before it a step is told the results; one that comes after all others is told
-- how many of them ended how.
--
-- Parameters:
--   q           the queue
--   p_workflow  the workflow
--   p_steps     steps that were not enqueued yet
-- Returns: nothing.
-- Raises: what enqueueing raises
-- Locks: as enqueueing does.
create or replace function weir_log.send_steps(q weir_internal.queues, p_workflow bigint, p_steps int[])
returns void
language plpgsql
as $$
declare
    n record;
    v_ids bigint[];
begin
    if coalesce(cardinality(p_steps), 0) = 0 then
        return;
    end if;
    select array_agg(s.kind order by s.no) as kinds, array_agg(s.args::text order by s.no) as args,
        case when count(s.key) > 0 then array_agg(s.key order by s.no) end as keys,
        array_agg(s.headers order by s.no) as headers,
        array_agg(jsonb_build_object('workflow', s.workflow, 'step', s.name)
            || case when s.after is null then '{}' else jsonb_build_object('results', (
                   select jsonb_object_agg(b.name, e.result)
                   from weir_internal.workflow_steps b
                   join weir_internal.workflow_ends e on e.workflow = b.workflow and e.no = b.no and e.what = 2
                   where b.workflow = s.workflow and b.no = any(s.after))) end
            || case when not s.after_all then '{}' else jsonb_build_object('ended', (
                   select jsonb_build_object('done', count(*) filter (where e.what = 2),
                       'cancelled', count(*) filter (where e.what = 3), 'failed', count(*) filter (where e.what = 5))
                   from (select distinct on (no) what from weir_internal.workflow_ends
                         where workflow = s.workflow order by no, seq desc) e)) end
            order by s.no) as marks
    into n
    from weir_internal.workflow_steps s where s.workflow = p_workflow and s.no = any(p_steps);
    if q.moving_from is null then
        select e.ids into v_ids
        from weir_log.enqueue_jobs(
            q, n.kinds, n.args, n.keys, n.headers, null, null, null, null, false, null, false, n.marks) e;
    else -- this may be the log that the queue is leaving
        execute format('select e.ids from %s.enqueue_jobs(
                $1, $2, $3, $4, $5, null, null, null, null, false, null, false, $6) e',
            (select l.schema_name from weir_internal.logs l where l.no = q.log_no))
        into v_ids using q, n.kinds, n.args, n.keys, n.headers, n.marks;
    end if;
    insert into weir_internal.workflow_jobs
    select p_workflow, u.no, u.id, pg_current_xact_id()
    from unnest(array(select i from unnest(p_steps) i order by 1), v_ids) u (no, id);
end
$$;

-- weir_log.end_step(q, p_workflow, p_step, p_what, p_result)
-- Notes that the job of a step has ended, and enqueues what comes after it. One transaction at a time does so for a
-- workflow, so that whoever ends the last step sees all others. What was done or cancelled stays so; what failed may be
-- redriven, and be done after all.
--
-- Parameters:
--   q           the queue
--   p_workflow  the workflow
--   p_step      the step's number
--   p_what      how it ended, as weir_internal.job_event says: 2, 3 or 5
--   p_result    of the job
-- Returns: nothing.
-- Raises: what enqueueing raises
-- Locks: the workflow's advisory lock, until the transaction ends; as enqueueing does.
create or replace function weir_log.end_step(
    q weir_internal.queues, p_workflow bigint, p_step int, p_what int, p_result jsonb)
returns void
language plpgsql
as $$
declare
    v_low int;
    v_next int[];
begin
    perform pg_advisory_xact_lock(weir_internal.workflow_lock(p_workflow));
    if exists (select from weir_internal.workflow_ends e
               where e.workflow = p_workflow and e.no = p_step and (e.what in (2, 3) or e.what = p_what)) then
        return;
    end if;
    select e.low into v_low from weir_internal.workflow_ends e
    where e.workflow = p_workflow order by e.seq desc limit 1;
    v_low := least(weir_internal.next_under_way(p_workflow, coalesce(v_low, 1)), p_step);
    insert into weir_internal.workflow_ends (workflow, no, what, result, at, low)
    values (p_workflow, p_step, p_what, p_result, weir_internal.clock(), v_low);
    if p_what = 2 then
        v_next := array(
            select s.no from weir_internal.workflow_steps s
            where s.workflow = p_workflow and (s.after is not null or s.after_all) and p_step = any(s.after)
                and not exists (select from weir_internal.workflow_jobs j where j.workflow = s.workflow and j.no = s.no)
                and not exists (
                    select from unnest(s.after) a
                    where not exists (select from weir_internal.workflow_ends e
                                      where e.workflow = s.workflow and e.no = a and e.what = 2))
            order by s.no);
        perform weir_log.send_steps(q, p_workflow, v_next);
    end if;
    v_low := weir_internal.next_under_way(p_workflow, v_low);
    if v_low is null then
        v_next := array(
            select s.no from weir_internal.workflow_steps s
            where s.workflow = p_workflow and s.after_all
                and not exists (select from weir_internal.workflow_jobs j
                                where j.workflow = s.workflow and j.no = s.no));
        perform weir_log.send_steps(q, p_workflow, v_next);
        v_low := v_next[1];
    end if;
    update weir_internal.workflows set ended_at = case when v_low is null then weir_internal.clock() end
    where no = p_workflow and (ended_at is null) <> (v_low is not null);
end
$$;

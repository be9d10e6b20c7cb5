-- weir_log.end_lost_steps(q, p_what, p_max)
-- Ends steps of workflows whose jobs no group has before it any more, although nothing said that they ended: they were
-- acknowledged by a plain ack, or purged.
--
-- Parameters:
--   q       the queue
--   p_what  how they ended, as weir_internal.job_event says
--   p_max   workflows to look at, and steps of each
-- Returns: how many it ended; a workflow that another transaction is at is passed over.
-- Raises: what enqueueing raises
-- Locks: as weir_log.end_step.
create or replace function weir_log.end_lost_steps(q weir_internal.queues, p_what int, p_max int)
returns int
language plpgsql
as $$
declare
    v_ids bigint[];
    v_txids xid8[];
    v_workflows bigint[];
    s record;
    v_count int := 0;
begin
    select array_agg(t.id), array_agg(t.txid), array_agg(distinct t.no) into v_ids, v_txids, v_workflows
    from (select j.id, j.txid, w.no
          from (select no from weir_internal.workflows where queue_no = q.no and ended_at is null
                order by random() limit p_max) w
          left join lateral (
              select e.low from weir_internal.workflow_ends e where e.workflow = w.no order by e.seq desc limit 1) e
              on true
          cross join lateral (
              select i.id, i.txid from weir_internal.workflow_jobs i
              where i.workflow = w.no and i.no >= coalesce(e.low, 1)
                  and not exists (select from weir_internal.workflow_ends d where d.workflow = w.no and d.no = i.no)
              order by i.no limit p_max) j) t;
    if v_ids is null then
        return 0;
    end if;
    for s in
        select j.workflow, j.no from weir_internal.workflow_jobs j
        join weir_internal.workflows w on w.no = j.workflow and w.queue_no = q.no
        where j.workflow = any(v_workflows) and j.id = any(v_ids)
            and j.id not in (select t.id from weir_log.job_state_of(q, v_ids, v_txids) t)
        order by j.workflow, j.no
    loop
        continue when not pg_try_advisory_xact_lock(weir_internal.workflow_lock(s.workflow));
        continue when exists ( -- ended meanwhile, perhaps as a dead letter
            select from weir_internal.workflow_ends e where e.workflow = s.workflow and e.no = s.no);
        perform weir_log.end_step(q, s.workflow, s.no, p_what, null);
        v_count := v_count + 1;
    end loop;
    return v_count;
end
$$;

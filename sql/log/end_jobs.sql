-- weir_log.end_jobs(q, p_messages, p_what, p_results, p_reason)
-- Notes that messages have ended, as far as they are jobs that are tracked, and enqueues what follows those that are
-- steps of a workflow.
--
-- Parameters:
--   q           the queue
--   p_messages  messages, attempts counting every delivery
--   p_what      how they ended, as weir_internal.job_event says: 2, 3 or 5; or 4: they did not, a try failed
--   p_results   null, or one a message
--   p_reason    why, where they were cancelled or failed
-- Returns: nothing.
-- Raises: what enqueueing raises
-- Locks: ROW EXCLUSIVE on the ring of events; as weir_log.end_step.
create or replace function weir_log.end_jobs(
    q weir_internal.queues, p_messages weir_internal.delayed_row[], p_what int, p_results jsonb[], p_reason text)
returns void
language plpgsql
as $$
declare
    s record;
begin
    if not exists (select from unnest(p_messages) m where m.headers ? 'job') then
        return;
    end if;
    perform weir_log.append_job_event(array(
        select row(q.no, m.id, p_what, weir_internal.clock(), null, null, m.attempts, p_results[m.i], p_reason)
            ::weir_internal.job_event
        from unnest(p_messages) with ordinality m
            (txid, queue_no, group_no, due_at, id, attempts, key, headers, payload, body, enqueued_at, reason, i)
        where m.headers -> 'job' @> '{"tracked": true}'));
    if p_what = 4 then
        return;
    end if;
    for s in
        select j.workflow, j.no, p_results[m.i] as result -- what a header says counts only if it is so
        from unnest(p_messages) with ordinality m
            (txid, queue_no, group_no, due_at, id, attempts, key, headers, payload, body, enqueued_at, reason, i)
        cross join lateral (
            select case when m.headers #>> '{job,workflow}' ~ '^[0-9]{1,18}$'
                       then (m.headers #>> '{job,workflow}')::bigint end as no) h
        cross join lateral (
            select i.workflow, i.no from weir_internal.workflows w
            join weir_internal.workflow_jobs i on i.workflow = w.no
            where w.no = h.no and w.queue_no = q.no and i.id = m.id limit 1) j
        order by j.workflow, j.no
    loop
        perform weir_log.end_step(q, s.workflow, s.no, p_what, s.result);
    end loop;
end
$$;

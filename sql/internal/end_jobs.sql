-- weir_internal.end_jobs(q, p_jobs, p_what, p_results, p_reason)
-- Notes that messages have ended, as far as they are jobs that are tracked, and enqueues what follows those that are
-- steps of a workflow.
--
-- Parameters:
--   q          the queue
--   p_jobs     messages, attempts counting every delivery
--   p_what     how they ended, as weir_internal.job_event says: 2, 3 or 5; or 4: they did not, a try failed
--   p_results  null, or one a message
--   p_reason   why, where they were cancelled or failed
-- Returns: nothing.
-- Raises: what enqueueing raises
-- Locks: ROW EXCLUSIVE on the ring of events; as weir_internal.end_step.
create or replace function weir_internal.end_jobs(
    q weir_internal.queues, p_jobs weir_internal.later_row[], p_what int, p_results jsonb[], p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s record;
begin
    if not exists (select from unnest(p_jobs) m where m.headers ? 'job') then
        return;
    end if;
    if to_regclass(format('weir_internal.q%s_jobs_ring', q.no)) is not null then
        execute format(
            'select weir_internal.q%s_note(array(
                 select row(m.id, $3, $5, null, null, m.attempts, u.result, $4)::weir_internal.job_event
                 from unnest($1) with ordinality m
                 left join unnest($2) with ordinality u (result, i) on u.i = m.ordinality
                 where m.headers -> ''job'' @> ''{"tracked": true}''))', q.no)
        using p_jobs, p_results, p_what, p_reason, weir_internal.clock();
    end if;
    for s in
        select j.workflow, j.no, u.result -- what a header says counts only if it is so
        from unnest(p_jobs) with ordinality m
        left join unnest(p_results) with ordinality u (result, i) on u.i = m.ordinality
        join weir_internal.workflows w
            on w.no = case when m.headers #>> '{job,workflow}' ~ '^[0-9]{1,18}$'
                           then (m.headers #>> '{job,workflow}')::bigint end
            and w.queue_no = q.no
        join weir_internal.workflow_jobs j on j.workflow = w.no and j.id = m.id
        where p_what <> 4
        order by j.workflow, j.no
    loop
        perform weir_internal.end_step(q, s.workflow, s.no, p_what, s.result);
    end loop;
end
$$;

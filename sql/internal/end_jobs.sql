-- weir_internal.end_jobs(q, p_jobs, p_what, p_results, p_reason)
-- Notes that messages have ended, as far as they are jobs that are tracked.
--
-- Parameters:
--   q          the queue
--   p_jobs     messages, attempts counting every delivery
--   p_what     how they ended, as weir_internal.job_event says: 2, 3 or 5; or 4: they did not, a try failed
--   p_results  null, or one a message
--   p_reason   why, where they were cancelled or failed
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the ring of events.
create or replace function weir_internal.end_jobs(
    q weir_internal.queues, p_jobs weir_internal.later_row[], p_what int, p_results jsonb[], p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from unnest(p_jobs) m where m.headers ? 'job')
        or to_regclass(format('weir_internal.q%s_jobs_ring', q.no)) is null then
        return;
    end if;
    execute format(
        'select weir_internal.q%s_note(array(
             select row(m.id, $3, $5, null, null, m.attempts, u.result, $4)::weir_internal.job_event
             from unnest($1) with ordinality m
             left join unnest($2) with ordinality u (result, i) on u.i = m.ordinality
             where m.headers -> ''job'' @> ''{"tracked": true}''))', q.no)
    using p_jobs, p_results, p_what, p_reason, weir_internal.clock();
end
$$;

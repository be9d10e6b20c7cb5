-- weir.list_jobs(queue_name, state, kind, max, after)
-- Lists a queue's tracked jobs, by state or by kind. It is for people who look: where each job stands is found out by
-- looking for it, and with a state or a kind it reads on until it has found enough.
--
-- Parameters:
--   queue_name  the queue
--   state       only those that are waiting, running, done, failed or cancelled; null = all
--   kind        only those of this kind; null = all
--   max         1 to 1,000 rows at most
--   after       only jobs above this: to page on, give the last id of the page before
-- Returns: one row a job, in the order of their ids, see weir.job_status. Those that ended longer ago than the queue's
-- job_retention are left out.
-- Raises: WR001, WR006
-- Locks: none
create or replace function weir.list_jobs(
    queue_name text, state text default null, kind text default null, max int default 100, after bigint default 0)
returns setof weir.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.list_jobs(queue_name, state, kind, max, after);
    else
        return query execute 'select * from ' || weir_internal.call('list_jobs', queue_name, '$1, $2, $3, $4')
        using state, kind, max, after;
    end if;
end
$$;

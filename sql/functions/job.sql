-- weir.job(queue_name, id)
-- Shows how a tracked job stands. Whoever may enqueue jobs may ask.
--
-- A job belongs to all groups of its queue: it runs while any of them works at it, and has ended when none has it
-- before it any more. One that was acknowledged otherwise than by finish is done, without a result.
--
-- Parameters:
--   queue_name  the queue
--   id          the job
-- Returns: one row, see weir.job_status; none when the job is not tracked, or when it ended longer ago than the queue's
-- job_retention.
-- Raises: WR001, WR006
-- Locks: none
create or replace function weir.job(queue_name text, id bigint)
returns setof weir.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.job(queue_name, id);
    else
        return query execute 'select * from ' || weir_internal.call('job', queue_name, '$1')
        using id;
    end if;
end
$$;

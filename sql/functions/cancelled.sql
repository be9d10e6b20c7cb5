-- weir.cancelled(queue_name, claim_ids)
-- Which of the jobs that a worker has were cancelled since. Costs next to nothing while nothing is cancelled: ask when
-- leases are extended.
--
-- Parameters:
--   queue_name  the queue
--   claim_ids   claims, from receive; those that are over count for nothing
-- Returns: one row a job.
-- Raises: WR001
-- Locks: none
create or replace function weir.cancelled(queue_name text, claim_ids bigint[])
returns table (claim_id bigint, id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.cancelled(queue_name, claim_ids);
    else
        return query execute 'select * from ' || weir_internal.call('cancelled', queue_name, '$1')
        using claim_ids;
    end if;
end
$$;

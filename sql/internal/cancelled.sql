-- weir_internal.cancelled(p_queue, p_claims)
-- Which jobs under some claims were cancelled since they were claimed.
--
-- Parameters:
--   p_queue   queue number
--   p_claims  claims; those that are not held any more count for nothing
-- Returns: one row a job.
-- Raises: none (WR009 and WR010 within mean that a claim is over)
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.cancelled(p_queue int, p_claims bigint[])
returns table (claim_id bigint, id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s record;
begin
    if (pg_sequence_last_value(format('weir_internal.q%s_cancels', p_queue)) > 0) is not true then
        return;
    end if;
    foreach claim_id in array p_claims loop
        begin
            select * into s from weir_internal.claim_state(p_queue, claim_id);
            return query
            select claim_id, n.id from weir_internal.cancellations n
            where n.queue_no = p_queue and n.id <@ ((s.c).ids - s.done);
        exception
            when sqlstate 'WR009' or sqlstate 'WR010' then
                null;
        end;
    end loop;
end
$$;

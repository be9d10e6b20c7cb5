-- weir.extend(queue_name, claim_id, lease)
-- Gives a live claim more time. It never shortens a lease.
--
-- Parameters:
--   queue_name  the queue
--   claim_id    from receive
--   lease       time from now, 1 millisecond to 7 days
-- Returns: the claim's deadline.
-- Raises: WR001, WR006, WR009, WR010, WR012
-- Locks: the claim, until the transaction ends.
create or replace function weir.extend(queue_name text, claim_id bigint, lease interval)
returns timestamptz
language plpgsql
as $$
declare
    v_deadline timestamptz;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.extend(queue_name, claim_id, lease);
    end if;
    execute 'select ' || weir_internal.call('extend', queue_name, '$1, $2') into v_deadline using claim_id, lease;
    return v_deadline;
end
$$;

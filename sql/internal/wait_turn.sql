-- weir_internal.wait_turn(p_queue, p_group)
-- Waits a little for the turn of a limited group.
--
-- Parameters:
--   p_queue  queue number
--   p_group  number of the group
-- Returns: whether the caller has it.
-- Raises: none
-- Locks: the group's turn, waited for up to 100 ms; until the transaction ends.
create or replace function weir_internal.wait_turn(p_queue int, p_group smallint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(p_queue), -2 - p_group);
    return true;
exception
    when lock_not_available or deadlock_detected then
        return false;
end
$$;

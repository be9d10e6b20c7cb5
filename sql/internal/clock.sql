-- weir_internal.clock()
-- The engine's only source of time, so that a test can replace it.
--
-- Returns: the time now, not the transaction's.
-- Raises: none
-- Locks: none
create or replace function weir_internal.clock()
returns timestamptz
language sql volatile
as $$
    select clock_timestamp()
$$;

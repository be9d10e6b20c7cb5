-- weir_internal.to_micros(p_time)
-- A time as a whole number, to be kept in a sequence.
--
-- Parameters:
--   p_time  a time
-- Returns: microseconds since 1970.
-- Raises: none
-- Locks: none
create or replace function weir_internal.to_micros(p_time timestamptz)
returns bigint
language sql immutable
as $$
    select (extract(epoch from p_time) * 1000000)::bigint
$$;

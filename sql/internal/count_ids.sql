-- weir_internal.count_ids(p_ids)
-- How many ids a set holds.
--
-- Parameters:
--   p_ids  a set of message ids
-- Returns: their number.
-- Raises: none
-- Locks: none
create or replace function weir_internal.count_ids(p_ids int8multirange)
returns int
language sql immutable
as $$
    select coalesce(sum(upper(r) - lower(r)), 0)::int from unnest(p_ids) r
$$;

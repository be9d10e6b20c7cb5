-- weir_internal.extrapolate(n1, width1, n2, width2, gap)
-- How many things lie in a gap between two counted ends of a line, if they lie there as densely as they do, on average,
-- at the ends.
--
-- Parameters:
--   n1, width1  the head: so many things on so long a piece
--   n2, width2  the tail, likewise
--   gap         length of what was not counted
-- Returns: the estimate.
-- Raises: none
-- Locks: none
create or replace function weir_internal.extrapolate(n1 bigint, width1 bigint, n2 bigint, width2 bigint, gap bigint)
returns bigint
language sql immutable
as $$
    select round(gap * (n1 / greatest(width1, 1)::float8 + n2 / greatest(width2, 1)::float8) / 2)::bigint
$$;

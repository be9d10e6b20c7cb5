-- weir_internal.rate_step(g)
-- What one delivery of a group with a rate_max takes of its rate.
--
-- Parameters:
--   g  the group
-- Returns: nanoseconds, rounded up.
-- Raises: none
-- Locks: none
create or replace function weir_internal.rate_step(g weir_internal.groups)
returns bigint
language sql immutable
as $$
    select ceil(extract(epoch from g.rate_period)::numeric * 1000000000 / g.rate_max)::bigint
$$;

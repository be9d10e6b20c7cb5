-- weir_internal.backoff(g, p_attempts)
-- How long a message waits before its next delivery: backoff_min after the first, twice as long after each further one,
-- give or take a tenth at random, so that what failed together does not return together, and never above backoff_max.
--
-- Parameters:
--   g           the group
--   p_attempts  deliveries so far, 1 or more
-- Returns: the wait.
-- Raises: none
-- Locks: none
create or replace function weir_internal.backoff(g weir_internal.groups, p_attempts int)
returns interval
language sql volatile
as $$
    select least(g.backoff_max,
        least(g.backoff_max, g.backoff_min * 2 ^ least(p_attempts - 1, 20)) * (0.9 + random() * 0.2))
$$;

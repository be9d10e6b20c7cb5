-- weir.list_groups(queue_name)
-- The groups of a queue.
--
-- Parameters:
--   queue_name  the queue
-- Returns: one row a group, by name; paused tells whether the group is, by itself or with its queue; a limit
-- that is null is not set; fair tells whether keys take turns.
-- Raises: WR001
-- Locks: none
create or replace function weir.list_groups(queue_name text)
returns table (
    group_name text, ordered boolean, max_attempts int, backoff_min interval, backoff_max interval,
    created_at timestamptz, paused boolean, concurrency_max int, rate_max int, rate_period interval,
    key_concurrency_max int, fair boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute
        'select name, ordered, max_attempts, backoff_min, backoff_max, created_at, paused or queue_paused,
             concurrency_max, rate_max, rate_period, key_concurrency_max, keyed
         from ' || case when has_schema_privilege('weir_log', 'usage') then 'weir_internal.groups($1)'
                        else weir_internal.gate('groups', queue_name) || '()' end || ' order by name'
    using queue_name;
end
$$;

-- weir.configure_group(queue_name, group_name, max_attempts, backoff_min, backoff_max,
--     concurrency_max, rate_max, rate_period, key_concurrency_max, fair)
-- Changes settings of a group that is in use.
--
-- Parameters:
--   queue_name       the queue
--   group_name       the group
--   max_attempts     1 to 1000 deliveries before a message is a dead letter; null = as it is
--   backoff_min      wait before the second delivery after a nack; null = as it is
--   backoff_max      what the wait never exceeds; null = as it is
--   concurrency_max  1 to 10,000 messages claimed and unfinished at once; 0 = no limit; null = as it is
--   rate_max         1 to 1,000,000 deliveries in rate_period, see docs/tasks/limits.md; 0 = no limit; null = as it is
--   rate_period      1 millisecond to 30 days; null = as it is
--   key_concurrency_max  1 to 10,000 messages of one key claimed and unfinished at once; 0 = no limit; null = as it is
--   fair             true: keys take turns, as with a key_concurrency_max; null = as it is
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR060
-- Locks: the queue's administration lock, until the transaction ends. A change of limits waits for receives of the
-- group that are not committed.
create or replace function weir.configure_group(
    queue_name text,
    group_name text,
    max_attempts int default null,
    backoff_min interval default null,
    backoff_max interval default null,
    concurrency_max int default null,
    rate_max int default null,
    rate_period interval default null,
    key_concurrency_max int default null,
    fair boolean default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'configure_group', jsonb_build_object(
        'group_name', group_name, 'max_attempts', max_attempts, 'backoff_min', backoff_min,
        'backoff_max', backoff_max, 'concurrency_max', concurrency_max, 'rate_max', rate_max,
        'rate_period', rate_period, 'key_concurrency_max', key_concurrency_max, 'fair', fair));
end
$$;

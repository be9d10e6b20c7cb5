-- weir.create_group(queue_name, group_name, ordered, start, max_attempts, backoff_min, backoff_max, ...)
-- Creates a group: an independent reader of the queue.
--
-- Parameters:
--   queue_name    the queue
--   group_name    1 to 47 of a-z, 0-9, _, - and .
--   ordered       whether one key's messages are delivered one after the other
--   start         'start' = with what the queue still keeps, 'end' = with what is sent from now on, or a time
--   max_attempts  1 to 1,000 deliveries before a message is a dead letter
--   backoff_min   wait before the second delivery; doubles with each further one
--   backoff_max   and never exceeds this; up to 1 year
--   concurrency_max      messages claimed and unfinished at once, up to 10,000; 0 = no limit
--   rate_max             deliveries a rate_period, up to 1,000,000; 0 = no limit
--   rate_period          1 millisecond to 30 days
--   key_concurrency_max  messages of one key claimed and unfinished at once, up to 10,000; 0 = no limit
--   fair                 whether keys take turns
-- Returns: nothing.
-- Raises: WR001, WR003, WR004, WR005, WR006, WR012, WR019, WR060
-- Locks: the queue's administration lock and, shared, the lock of its log's upkeep, until the transaction ends.
create or replace function weir.create_group(
    queue_name text,
    group_name text,
    ordered boolean default false,
    start text default 'start',
    max_attempts int default 5,
    backoff_min interval default '1 second',
    backoff_max interval default '10 minutes',
    concurrency_max int default 0,
    rate_max int default 0,
    rate_period interval default '1 second',
    key_concurrency_max int default 0,
    fair boolean default false)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'create_group', jsonb_build_object(
        'group_name', group_name, 'ordered', ordered, 'start', start, 'max_attempts', max_attempts,
        'backoff_min', backoff_min, 'backoff_max', backoff_max, 'concurrency_max', concurrency_max,
        'rate_max', rate_max, 'rate_period', rate_period, 'key_concurrency_max', key_concurrency_max, 'fair', fair));
end
$$;

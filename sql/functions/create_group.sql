-- weir.create_group(queue_name, group_name, ordered, start, max_attempts, backoff_min, backoff_max, patience,
--     concurrency_max, rate_max, rate_period, key_concurrency_max, fair)
-- Creates a group: an independent reader of a queue, which is delivered every message from `start` on.
--
-- Parameters:
--   queue_name       the queue
--   group_name       1 to 47 of a-z, 0-9, _, - and .
--   ordered          true: one key's messages (and, of one lane, those without a key) one after the other
--   start            'start' (all that the queue still holds), 'end' (what is committed, or falls due, from now on),
--                    or a timestamp
--   max_attempts     1 to 1000 deliveries before a message is a dead letter
--   backoff_min      wait before the second delivery after a nack; it doubles with each further one
--   backoff_max      and never exceeds this
--   patience         ordered: how long a claim that is not finished keeps others out of its lane, 0 to 1 hour
--   concurrency_max  1 to 10,000 messages claimed and unfinished at once; 0 = no limit
--   rate_max         1 to 1,000,000 deliveries in rate_period, see docs/tasks/limits.md; 0 = no limit
--   rate_period      1 millisecond to 30 days
--   key_concurrency_max  1 to 10,000 messages of one key claimed and unfinished at once; 0 = no limit
--   fair             true: keys take turns; a key_concurrency_max implies it
-- Returns: nothing.
-- Raises: WR001, WR004, WR005, WR006, WR014, WR060
-- Locks: the queue's administration lock, until the transaction ends.
create or replace function weir.create_group(
    queue_name text,
    group_name text,
    ordered boolean default false,
    start text default 'start',
    max_attempts int default 5,
    backoff_min interval default '1 second',
    backoff_max interval default '10 minutes',
    patience interval default '1 second',
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
        'backoff_min', backoff_min, 'backoff_max', backoff_max, 'patience', patience,
        'concurrency_max', concurrency_max, 'rate_max', rate_max, 'rate_period', rate_period,
        'key_concurrency_max', key_concurrency_max, 'fair', fair));
end
$$;

-- weir_internal.configure_group(queue_name, group_name, max_attempts, backoff_min, backoff_max, patience,
--     concurrency_max, rate_max, rate_period, key_concurrency_max, fair)
-- Changes a group's settings.
--
-- Parameters:
--   queue_name       the queue
--   group_name       the group
--   max_attempts     null = as it is
--   backoff_min      null = as it is
--   backoff_max      null = as it is
--   patience         null = as it is
--   concurrency_max  1 to 10,000 messages claimed and unfinished at once; 0 = no limit; null = as it is
--   rate_max         1 to 1,000,000 deliveries in rate_period, see docs/tasks/limits.md; 0 = no limit; null = as it is
--   rate_period      1 millisecond to 30 days; null = as it is
--   key_concurrency_max  1 to 10,000 messages of one key claimed and unfinished at once; 0 = no limit; null = as it is
--   fair             true: keys take turns, as with a key_concurrency_max; null = as it is
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR060
-- Locks: the queue's administration lock; with limits also the one for the creation of functions, the group's turn and,
-- when it had none, the locks of its lanes: it waits for receives that are not committed. Until the transaction ends.
create or replace function weir_internal.configure_group(
    queue_name text, group_name text, max_attempts int, backoff_min interval, backoff_max interval, patience interval,
    concurrency_max int, rate_max int, rate_period interval, key_concurrency_max int, fair boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    o weir_internal.groups; -- before
    g weir_internal.groups; -- after
begin
    if coalesce($7, $8, $10) is not null or $11 is not null then -- the queue's functions may be made anew
        perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    end if;
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    o := weir_internal.find_group(q, group_name);
    g := o;
    g.max_attempts := coalesce($3, o.max_attempts);
    g.backoff_min := coalesce($4, o.backoff_min);
    g.backoff_max := coalesce($5, o.backoff_max);
    g.patience := coalesce($6, o.patience);
    g.concurrency_max := nullif(coalesce($7, o.concurrency_max), 0);
    g.rate_max := nullif(coalesce($8, o.rate_max), 0);
    g.rate_period := coalesce($9, o.rate_period);
    g.key_concurrency_max := nullif(coalesce($10, o.key_concurrency_max), 0);
    g.fair := coalesce($11, o.fair);
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    perform weir_internal.check_group_settings(g);
    if (g.concurrency_max, g.rate_max, g.rate_period, g.key_concurrency_max, g.fair) is distinct from
        (o.concurrency_max, o.rate_max, o.rate_period, o.key_concurrency_max, o.fair) then
        if not o.limited then
            perform weir_internal.lock_lanes(q, g);
        end if;
        perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -2 - g.no);
    end if;
    update weir_internal.groups w
    set max_attempts = g.max_attempts, backoff_min = g.backoff_min, backoff_max = g.backoff_max, patience = g.patience,
        concurrency_max = g.concurrency_max, rate_max = g.rate_max, rate_period = g.rate_period,
        limited = g.limited, key_concurrency_max = g.key_concurrency_max, fair = g.fair, keyed = g.keyed
    where w.queue_no = q.no and w.no = g.no
    returning * into g;
    perform weir_internal.start_limits(q, o, g);
end
$$;

-- weir_internal.create_group(queue_name, group_name, ordered, start, max_attempts, backoff_min, backoff_max, patience,
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
create or replace function weir_internal.create_group(
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
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    v_no int;
    v_max int := 16384 / (q.lanes + 1);
    v_since timestamptz;
begin
    perform weir_internal.check_name('group', group_name);
    g.name := group_name;
    g.max_attempts := max_attempts;
    g.backoff_min := backoff_min;
    g.backoff_max := backoff_max;
    g.ordered := ordered;
    g.patience := patience;
    g.concurrency_max := nullif(concurrency_max, 0);
    g.rate_max := nullif(rate_max, 0);
    g.rate_period := rate_period;
    g.key_concurrency_max := nullif(key_concurrency_max, 0);
    g.fair := fair;
    perform weir_internal.check_group_settings(g);
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    v_since := weir_internal.start_time(start);
    if g.limited then -- the queue's functions may be made anew
        perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    end if;
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    if exists (select from weir_internal.groups where queue_no = q.no and name = group_name) then
        raise exception 'queue "%" has a group "%" already', queue_name, group_name
            using errcode = 'WR004', hint = 'Choose another name, or use the group that is there.';
    end if;
    -- the number that was free longest: a receive that still has a dropped group's row claims nothing of this one
    select n into v_no from generate_series(0, v_max - 1) n
    where not exists (select from weir_internal.groups w where w.queue_no = q.no and w.no = n)
    order by ((n - q.group_ids) % v_max + v_max) % v_max limit 1;
    if v_no is null then
        raise exception 'queue "%" has % groups, which is as many as % lanes allow', queue_name, v_max, q.lanes
            using errcode = 'WR014',
            hint = 'Groups times (lanes + 1) may not exceed 16384. Use a queue with fewer lanes.';
    end if;
    update weir_internal.queues set group_ids = group_ids + 1 where no = q.no returning * into q;
    insert into weir_internal.groups
        (queue_no, no, id, name, ordered, max_attempts, backoff_min, backoff_max, patience, since, ttl, queue_paused,
         concurrency_max, rate_max, rate_period, limited, key_concurrency_max, fair, keyed)
    values (q.no, v_no, q.group_ids, group_name, $3, $5, $6, $7, $8, v_since, q.ttl, q.paused,
        g.concurrency_max, g.rate_max, g.rate_period, g.limited, g.key_concurrency_max, g.fair, g.keyed)
    returning * into g;
    perform weir_internal.start_limits(q, null, g);
    perform weir_internal.create_cursors(q, v_no::smallint, start = 'end');
end
$$;

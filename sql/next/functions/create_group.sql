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
-- Raises: WR001, WR003, WR004, WR005, WR006, WR019, WR060
-- Locks: an advisory lock on the queue's administration, until the transaction ends.
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
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
begin
    perform weir_internal.check_name('group', group_name);
    g.no := nextval('weir_internal.group_numbers');
    g.queue_no := q.no;
    g.name := group_name;
    g.ordered := ordered;
    g.max_attempts := max_attempts;
    g.backoff_min := backoff_min;
    g.backoff_max := backoff_max;
    g.concurrency_max := nullif(concurrency_max, 0);
    g.rate_max := nullif(rate_max, 0);
    g.rate_period := rate_period;
    g.key_concurrency_max := nullif(key_concurrency_max, 0);
    g.fair := fair;
    perform weir_internal.check_group_settings(g);
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    g.since := weir_internal.start_time(start);
    perform pg_advisory_xact_lock(weir_internal.admin_lock(q.no));
    if exists (select from weir_internal.groups w where w.queue_no = q.no and w.name = g.name) then
        raise exception 'queue "%" has a group "%" already', q.name, g.name
            using errcode = 'WR004', hint = 'Choose another name, or use the group that is there.';
    end if;
    g.start := weir_internal.start_cursor(q, start = 'end');
    g.start_by := pg_current_xact_id();
    g.paused := false;
    g.queue_paused := q.paused;
    g.ttl := q.ttl;
    g.created_at := now();
    if g.rate_max is not null then
        g.rate_sequence := weir_internal.start_rate(g);
    end if;
    insert into weir_internal.groups select g.*;
end
$$;

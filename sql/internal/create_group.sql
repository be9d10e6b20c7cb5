-- weir_internal.create_group(p_queue, p_settings), weir_internal.add_group(q, g, p_start)
-- create_group: creates a group of a queue that is there. add_group: stores it.
--
-- Parameters:
--   p_queue     name of the queue
--   p_settings  as weir.create_group takes them, by name
--   q           the queue, which others do not see yet or do not administer now
--   g           the group: its name and settings
--   p_start     'start', 'end' or a time
-- Returns: nothing.
-- Raises: WR001, WR003, WR004, WR005, WR006, WR012, WR019, WR060
-- Locks: create_group: the queue's administration, the upkeep of its log, shared: until the transaction ends.
create or replace function weir_internal.create_group(p_queue text, p_settings jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    g weir_internal.groups;
    v_log text;
begin
    g := jsonb_populate_record(g, jsonb_build_object(
        'name', p_settings -> 'group_name', 'ordered', p_settings -> 'ordered',
        'max_attempts', p_settings -> 'max_attempts', 'backoff_min', p_settings -> 'backoff_min',
        'backoff_max', p_settings -> 'backoff_max', 'concurrency_max', p_settings -> 'concurrency_max',
        'rate_max', p_settings -> 'rate_max', 'rate_period', p_settings -> 'rate_period',
        'key_concurrency_max', p_settings -> 'key_concurrency_max', 'fair', p_settings -> 'fair'));
    perform weir_internal.check_name('group', g.name);
    if exists (select from weir_internal.groups w where w.queue_no = q.no and w.name = g.name) then
        raise exception 'queue "%" has a group "%" already', q.name, g.name
            using errcode = 'WR004', hint = 'Choose another name, or use the group that is there.';
    end if;
    perform weir_internal.check_isolation('create_group');
    foreach v_log in array weir_internal.logs_of_moving(p_queue) loop
        execute format('select %s.pause_upkeep()', v_log);
    end loop;
    perform weir_internal.add_group(q, g, p_settings ->> 'start');
end
$$;
create or replace function weir_internal.add_group(
    q weir_internal.queues, g weir_internal.groups, p_start text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    g.concurrency_max := nullif(g.concurrency_max, 0);
    g.rate_max := nullif(g.rate_max, 0);
    g.key_concurrency_max := nullif(g.key_concurrency_max, 0);
    perform weir_internal.check_group_settings(g);
    g.no := nextval('weir_internal.group_numbers');
    g.queue_no := q.no;
    g.keyed := g.fair or g.key_concurrency_max is not null;
    g.limited := g.keyed or g.concurrency_max is not null or g.rate_max is not null;
    g.since := weir_internal.start_time(p_start);
    g.start := weir_internal.start_cursor(q, p_start = 'end');
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

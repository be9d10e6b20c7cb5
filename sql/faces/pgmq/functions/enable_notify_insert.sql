-- pgmq.enable_notify_insert(queue_name, throttle_interval_ms), pgmq.disable_notify_insert(queue_name),
-- pgmq.update_notify_insert(queue_name, throttle_interval_ms), pgmq.list_notify_insert_throttles(),
-- pgmq.notify_insert_throttle
-- Have who sends to a queue notify its channel pgmq.q_<name>.INSERT, or no more; and tell which queues have that.
--
-- Parameters:
--   queue_name            the queue
--   throttle_interval_ms  the least time between two notifications, in milliseconds; 0: none
-- Returns: nothing; list_notify_insert_throttles, and the view: one row a queue.
-- Raises: P0001, 42P01
-- Locks: ROW EXCLUSIVE on notifies; enable_notify_insert: that of pgmq.acquire_queue_lock; until the transaction ends.
create or replace function pgmq.enable_notify_insert(queue_name text, throttle_interval_ms integer default 250)
returns void
language plpgsql
as $$
begin
    perform pgmq._refuse('throttle_interval_ms must be non-negative', 'Give 0 or more milliseconds.')
    where throttle_interval_ms < 0;
    perform pgmq._refuse(
        format('Queue "%s" does not exist. Create it first using pgmq.create()', queue_name), 'As it says.')
    where to_regclass(format('pgmq.%I', pgmq.format_table_name(queue_name, 'q'))) is null;
    perform pgmq.acquire_queue_lock(queue_name);
    perform pgmq.disable_notify_insert(queue_name);
    if to_regclass(pgmq._notified(queue_name)) is null then
        execute format('create sequence %s minvalue 0', pgmq._notified(queue_name));
    end if;
    perform setval(pgmq._notified(queue_name)::regclass, 0);
    insert into pgmq.notifies values (queue_name, throttle_interval_ms);
    perform setval('pgmq._notifying', 1);
end
$$;
create or replace function pgmq.disable_notify_insert(queue_name text)
returns void
language plpgsql
as $$
begin
    delete from pgmq.notifies n where n.queue_name = disable_notify_insert.queue_name;
    if found then -- its sequence stays: a sender that goes by the row as it was needs it
        return;
    elsif to_regclass(format('pgmq.%I', pgmq.format_table_name(queue_name, 'q'))) is null then
        raise notice 'relation "pgmq.%" does not exist, skipping', pgmq.format_table_name(queue_name, 'q');
    else
        raise notice 'trigger "trigger_notify_queue_insert_listeners" for relation "pgmq.%" does not exist, skipping',
            pgmq.format_table_name(queue_name, 'q');
    end if;
end
$$;
create or replace function pgmq.update_notify_insert(queue_name text, throttle_interval_ms integer)
returns void
language plpgsql
as $$
begin
    perform pgmq._refuse(format('throttle_interval_ms must be non-negative, got: %s', throttle_interval_ms),
        'Give 0 or more milliseconds.')
    where throttle_interval_ms < 0;
    perform pgmq._refuse(
        format('Queue "%s" does not exist. Create the queue first using pgmq.create()', queue_name), 'As it says.')
    where not exists (select from pgmq.meta m where m.queue_name = update_notify_insert.queue_name);
    update pgmq.notifies n set throttle_interval_ms = update_notify_insert.throttle_interval_ms
    where n.queue_name = update_notify_insert.queue_name;
    perform pgmq._refuse(format('Queue "%s" does not have notify_insert enabled. '
        'Enable it first using pgmq.enable_notify_insert()', queue_name), 'As it says.')
    where not found;
    perform setval(pgmq._notified(queue_name)::regclass, 0);
end
$$;
create or replace view pgmq.notify_insert_throttle as
select n.queue_name, n.throttle_interval_ms, pgmq._last_notified(n.queue_name) as last_notified_at
from pgmq.notifies n;
create or replace function pgmq.list_notify_insert_throttles()
returns table (queue_name text, throttle_interval_ms integer, last_notified_at timestamptz)
language sql stable
as $$
    select n.queue_name, n.throttle_interval_ms, n.last_notified_at from pgmq.notify_insert_throttle n
    order by n.queue_name
$$;

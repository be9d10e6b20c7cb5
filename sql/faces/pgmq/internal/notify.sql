-- pgmq._notify(p_queue), pgmq._notified(p_queue), pgmq._last_notified(p_queue)
-- _notify: tells who listens to the queue that a message was sent, at the end of the transaction, unless somebody did
-- within the queue's throttle. When was the last time is a sequence's value: a row would have senders wait for each
-- other's transactions. So a sender that rolls back keeps others from notifying for as long as the throttle.
-- _notified: the name of that sequence. _last_notified: that time.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: _notify: nothing; _notified: its name, with its schema; _last_notified: the time, 1970 when it never was.
-- Raises: none
-- Locks: none
create or replace function pgmq._notified(p_queue text)
returns text language sql immutable
as $$ select 'pgmq.' || quote_ident('q_' || lower(p_queue) || '_notified_seq') $$;
create or replace function pgmq._last_notified(p_queue text)
returns timestamptz
language sql
as $$
    select timestamptz 'epoch'
        + coalesce(pg_sequence_last_value(to_regclass(pgmq._notified(p_queue))), 0) * interval '1 microsecond'
$$;
create or replace function pgmq._notify(p_queue text)
returns void
language plpgsql
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_throttle int;
begin
    select max(n.throttle_interval_ms) into v_throttle from pgmq.notifies n where lower(n.queue_name) = lower(p_queue);
    if v_now - pgmq._last_notified(p_queue) >= v_throttle * interval '1 millisecond' then
        perform setval(pgmq._notified(p_queue)::regclass, (extract(epoch from v_now) * 1000000)::bigint);
        perform pg_notify(format('pgmq.%s.INSERT', pgmq.format_table_name(p_queue, 'q')), null);
    end if;
end
$$;

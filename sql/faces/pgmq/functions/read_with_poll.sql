-- pgmq.read_with_poll(queue_name, vt, qty, max_poll_seconds, poll_interval_ms, conditional)
-- Reads messages, and waits for some while there are none: within this one call, which holds a connection.
--
-- Parameters:
--   queue_name, vt, qty, conditional  as pgmq.read
--   max_poll_seconds                  so long at most
--   poll_interval_ms                  it looks again after so many milliseconds
-- Returns: the messages, by id; none when the time is up.
-- Raises: as pgmq.read
-- Locks: as pgmq.read
create or replace function pgmq.read_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5,
    poll_interval_ms integer default 100, conditional jsonb default '{}')
returns setof pgmq.message_record
language plpgsql
as $$
declare
    v_stop timestamptz := clock_timestamp() + make_interval(secs => max_poll_seconds);
begin
    if conditional <> '{}' then
        return query select * from pgmq._poll_picked(
            queue_name, vt, 'condition', conditional, qty, max_poll_seconds, poll_interval_ms);
        return;
    end if;
    while clock_timestamp() < v_stop loop
        return query select * from pgmq.read(queue_name, vt, qty, conditional);
        exit when found;
        perform pg_sleep(poll_interval_ms::numeric / 1000);
    end loop;
end
$$;

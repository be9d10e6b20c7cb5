-- pgmq.read_grouped(queue_name, vt, qty), read_grouped_rr, read_grouped_head, read_grouped_with_poll,
-- read_grouped_rr_with_poll, read_grouped_head_with_poll
-- Read messages by group, which is what their header x-pgmq-group says: of a group nothing is read while an earlier
-- message of it is with somebody. read_grouped fills up from the group with the oldest message; _rr takes one of each
-- group, then a second; _head takes one of each. _with_poll wait for some while there are none.
--
-- Parameters:
--   queue_name        the queue
--   vt                seconds in which nobody else reads them; 0 or less: whoever reads next may have them
--   qty               messages at most; null = all
--   max_poll_seconds  so long at most
--   poll_interval_ms  it looks again after so many milliseconds
-- Returns: the messages.
-- Raises: as pgmq._read_picked
-- Locks: as pgmq._read_picked
create or replace function pgmq.read_grouped(queue_name text, vt integer, qty integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query select * from pgmq._read_picked(queue_name, vt, 'grouped', null, qty);
end
$$;
create or replace function pgmq.read_grouped_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5,
    poll_interval_ms integer default 100)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query
    select * from pgmq._poll_picked(queue_name, vt, 'grouped', null, qty, max_poll_seconds, poll_interval_ms);
end
$$;
create or replace function pgmq.read_grouped_rr(queue_name text, vt integer, qty integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query select * from pgmq._read_picked(queue_name, vt, 'rr', null, qty);
end
$$;
create or replace function pgmq.read_grouped_rr_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5,
    poll_interval_ms integer default 100)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query
    select * from pgmq._poll_picked(queue_name, vt, 'rr', null, qty, max_poll_seconds, poll_interval_ms);
end
$$;
create or replace function pgmq.read_grouped_head(queue_name text, vt integer, qty integer)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query select * from pgmq._read_picked(queue_name, vt, 'head', null, qty);
end
$$;
create or replace function pgmq.read_grouped_head_with_poll(
    queue_name text, vt integer, qty integer, max_poll_seconds integer default 5,
    poll_interval_ms integer default 100)
returns setof pgmq.message_record
language plpgsql
as $$
begin
    return query
    select * from pgmq._poll_picked(queue_name, vt, 'head', null, qty, max_poll_seconds, poll_interval_ms);
end
$$;

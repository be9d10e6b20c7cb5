-- weir_log.delay(q, p_id, p_payload, p_body, p_key, p_headers, p_delay), weir_log.due_at(p_delay)
-- Keeps a message until it is due. Every group claims it from there.
--
-- A group first stores the time it claims up to in the sequence delayed_clock and then takes its snapshot. Here the
-- transaction first gets its id and then reads that sequence. So either the snapshot knows the transaction, as in
-- progress, and the group looks for its rows; or the transaction came after it, and its rows are due after the stored
-- time. This holds also when the machine's clock is set back.
--
-- Parameters:
--   q          the queue
--   p_id       the message's id
--   p_payload  the JSON text; null where there is a body
--   p_body     bytes, or null
--   p_key      null or the key
--   p_headers  a jsonb object or null
--   p_delay    delay: positive; due_at: 0 to 10 years
-- Returns: delay: nothing; due_at: the time.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `delayed`, until the transaction ends.
create or replace function weir_log.delay(
    q weir_internal.queues, p_id bigint, p_payload text, p_body bytea, p_key text, p_headers jsonb, p_delay interval)
returns void
language plpgsql
as $$
begin
    if q.ttl > interval '0' and p_delay >= q.ttl then
        raise exception 'a delay of % is not less than %, the ttl of queue "%"', p_delay, q.ttl, q.name
            using errcode = 'WR006', hint = 'The message would never be delivered. Give a shorter delay.';
    end if;
    perform weir_log.mark_special(q);
    insert into weir_log.delayed (txid, queue_no, due_at, id, attempts, key, headers, payload, body, enqueued_at)
    select pg_current_xact_id(), q.no, weir_log.due_at(p_delay), p_id, 0, p_key, p_headers, p_payload, p_body,
        weir_internal.clock();
end
$$;
create or replace function weir_log.due_at(p_delay interval)
returns timestamptz
language plpgsql
as $$
declare
    v_reached bigint;
begin
    if p_delay < interval '0' or p_delay > interval '10 years' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    if pg_current_xact_id() is not null then -- assigns the id
        v_reached := pg_sequence_last_value('weir_log.delayed_clock');
    end if;
    return greatest(weir_internal.clock() + p_delay,
        timestamptz 'epoch' + (v_reached + 1) * interval '1 microsecond');
end
$$;

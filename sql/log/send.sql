-- weir_log.send(p_queue, p_payload, p_key, p_headers, p_delay, p_priority, p_body)
-- Appends one message.
--
-- Parameters:
--   p_queue     name of the queue
--   p_payload   JSON; null where there is a body
--   p_key       decides the lane; null = the lane of its priority
--   p_headers   a jsonb object or null
--   p_delay     null or 0 = at once
--   p_priority  null = 0
--   p_body      bytes in place of the payload, or null
-- Returns: the message's id.
-- Raises: WR001, WR006, WR007, WR008, WR019, WR020
-- Locks: ROW EXCLUSIVE on the open segment (or on `delayed`), until the transaction ends.
create or replace function weir_log.send(
    p_queue text, p_payload json, p_key text, p_headers jsonb, p_delay interval, p_priority int,
    p_body bytea default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    r weir_internal.log_record;
    v_payload text := p_payload;
begin
    select * into q from weir_internal.queues
    where name = p_queue and origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    if q.no is null then
        perform weir_log.fail_queue(p_queue);
    end if;
    if v_payload is null or p_body is not null or p_headers is not null or p_key is not null
        or octet_length(v_payload) > q.message_bytes_max or strpos(v_payload, E'\\u') > 0 then
        perform weir_internal.check_message(p_queue, q.message_bytes_max, v_payload, p_body, p_key, p_headers);
    end if;
    if p_priority is not null then
        perform weir_internal.check_priority(p_queue, q.priorities, p_priority, p_key is not null);
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, 1);
    end if;
    r.id := nextval('weir_internal.record_numbers') * 1000;
    if p_delay <> interval '0' then
        perform weir_log.delay(q, r.id, v_payload, p_body, p_key, p_headers, p_delay);
        return r.id;
    end if;
    r.n := 1;
    r.queue_no := q.no;
    r.payloads := array[v_payload];
    if p_body is not null then
        r.bodies := array[p_body];
    end if;
    if p_key is null then
        r.lane := coalesce(p_priority, 0);
    else
        r.lane := weir_log.lane_of(q, p_key);
        r.keys := array[p_key];
    end if;
    if p_headers is not null then
        r.headers := array[p_headers];
    end if;
    perform weir_log.append_record(r);
    if pg_sequence_last_value(q.waiting) > 0 then
        perform weir_log.wake(q);
    end if;
    return r.id;
end
$$;

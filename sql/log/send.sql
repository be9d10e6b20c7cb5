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
    v_payload text := p_payload;
    v_ring bigint := pg_sequence_last_value('weir_log.log_ring');
    v_id bigint := case when p_key is null and p_headers is null and p_delay is null and p_priority is null then
        case v_ring % 3
            when 0 then weir_log.send_plainly_0(v_ring, p_queue, v_payload)
            when 1 then weir_log.send_plainly_1(v_ring, p_queue, v_payload)
            else weir_log.send_plainly_2(v_ring, p_queue, v_payload)
        end
    end;
begin
    if v_id is not null then
        return v_id;
    end if;
    select * into q from weir_internal.queues
    where name = p_queue and origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    if q.no is null then
        perform weir_log.find_home(p_queue);
        execute 'select ' || weir_internal.call('send', p_queue, '$1, $2, $3, $4, $5, $6') -- it has begun to move
        into v_id using p_payload, p_key, p_headers, p_delay, p_priority, p_body;
        return v_id;
    end if;
    perform weir_internal.check_message(p_queue, q.message_bytes_max, v_payload, p_body, p_key, p_headers);
    if p_priority is not null then
        perform weir_internal.check_priority(p_queue, q.priorities, p_priority, p_key is not null);
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, 1);
    end if;
    v_id := nextval('weir_internal.record_numbers') * 1000;
    if p_delay <> interval '0' then
        perform weir_log.delay(q, v_id, v_payload, p_body, p_key, p_headers, p_delay);
        return v_id;
    end if;
    v_ring := weir_log.append_record(row(null, v_id, 1, q.no,
        case when p_key is null then coalesce(p_priority, 0) else weir_log.lane_of(q, p_key) end, null, null, null,
        null, null, case when p_key is not null then array[p_key] end,
        case when p_headers is not null then array[p_headers] end, array[v_payload],
        case when p_body is not null then array[p_body] end)::weir_internal.log_record);
    if pg_sequence_last_value(q.waiting) > 0 then
        perform weir_log.wake(q);
    end if;
    return v_id;
end
$$;

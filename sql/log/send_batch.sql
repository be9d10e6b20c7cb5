-- weir_log.send_batch(p_queue, p_payloads, p_keys, p_headers, p_delay, p_priority)
-- Appends many messages. A batch without keys is one record, which is where the speed comes from.
--
-- Parameters:
--   p_queue     name of the queue
--   p_payloads  one a message, none null
--   p_keys      null, or one a message (null elements allowed)
--   p_headers   null, or one a message (null elements allowed)
--   p_delay     null or 0 = at once
--   p_priority  of all of them; null = 0
-- Returns: the ids, in the order of the payloads, rising.
-- Raises: WR001, WR006, WR007, WR008, WR019, WR020
-- Locks: ROW EXCLUSIVE on the open segment (or on `delayed`), until the transaction ends.
create or replace function weir_log.send_batch(
    p_queue text, p_payloads jsonb[], p_keys text[], p_headers jsonb[], p_delay interval, p_priority int)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_home(p_queue);
    v_ids bigint[];
begin
    if q.no is null then
        execute 'select ' || weir_internal.call('send_batch', p_queue, '$1, $2, $3, $4, $5')
        into v_ids using p_payloads, p_keys, p_headers, p_delay, p_priority;
        return v_ids;
    end if;
    if p_keys is not null or p_headers is not null or p_payloads is null or array_ndims(p_payloads) > 1
        or array_lower(p_payloads, 1) <> 1 or pg_column_size(p_payloads) > q.message_bytes_max
        or array_position(p_payloads, null) is not null then
        perform weir_internal.check_batch(p_queue, q.message_bytes_max, p_payloads, p_keys, p_headers);
    end if;
    if p_priority is not null then
        perform weir_internal.check_priority(p_queue, q.priorities, p_priority, p_keys is not null);
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, cardinality(p_payloads));
    end if;
    v_ids := weir_internal.next_ids(cardinality(p_payloads));
    if p_delay <> interval '0' then
        perform weir_log.delay(q, u.id, u.payload, u.key, u.headers, p_delay)
        from unnest(v_ids, p_payloads, p_keys, p_headers) as u (id, payload, key, headers);
    else
        perform weir_log.append_batch(q, v_ids, p_payloads, p_keys, p_headers, coalesce(p_priority, 0));
    end if;
    return v_ids;
end
$$;

-- weir_log.send_batch(p_queue, p_payloads, p_keys, p_headers, p_delay, p_priority, p_bodies)
-- Appends many messages. A batch without keys is one record, which is where the speed comes from.
--
-- Parameters:
--   p_queue     name of the queue
--   p_payloads  JSON, one a message, null where it has a body; or null: all have
--   p_keys      null, or one a message (null elements allowed)
--   p_headers   null, or one a message (null elements allowed)
--   p_delay     null or 0 = at once
--   p_priority  of all of them; null = 0
--   p_bodies    null, or one a message (null where it has a payload)
-- Returns: the ids, in the order of the payloads, rising.
-- Raises: WR001, WR006, WR007, WR008, WR019, WR020
-- Locks: ROW EXCLUSIVE on the open segment (or on `delayed`), until the transaction ends.
create or replace function weir_log.send_batch(
    p_queue text, p_payloads json[], p_keys text[], p_headers jsonb[], p_delay interval, p_priority int,
    p_bodies bytea[] default null)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_home(p_queue);
    v_payloads text[] := weir_internal.texts_of(p_payloads, p_bodies);
    v_ids bigint[];
begin
    if q.no is null then
        execute 'select ' || weir_internal.call('send_batch', p_queue, '$1, $2, $3, $4, $5, $6')
        into v_ids using p_payloads, p_keys, p_headers, p_delay, p_priority, p_bodies;
        return v_ids;
    end if;
    if p_keys is not null or p_headers is not null or p_bodies is not null or v_payloads is null
        or array_ndims(v_payloads) > 1 or array_lower(v_payloads, 1) <> 1
        or pg_column_size(v_payloads) > q.message_bytes_max or array_position(v_payloads, null) is not null
        or strpos(array_to_string(v_payloads, ''), E'\\u') > 0 then
        perform weir_internal.check_batch(p_queue, q.message_bytes_max, v_payloads, p_bodies, p_keys, p_headers);
    end if;
    if p_priority is not null then
        perform weir_internal.check_priority(p_queue, q.priorities, p_priority, p_keys is not null);
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, cardinality(v_payloads));
    end if;
    v_ids := weir_internal.next_ids(cardinality(v_payloads));
    if p_delay <> interval '0' then
        perform weir_log.delay(q, u.id, u.payload, u.body, u.key, u.headers, p_delay)
        from unnest(v_ids, v_payloads, p_bodies, p_keys, p_headers) as u (id, payload, body, key, headers);
    else
        perform weir_log.append_batch(q, v_ids, v_payloads, p_bodies, p_keys, p_headers, coalesce(p_priority, 0));
    end if;
    return v_ids;
end
$$;

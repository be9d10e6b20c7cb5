-- weir_log.send_once(p_queue, p_payloads, p_dedup_keys, p_keys, p_headers, p_delay, p_priority, p_bodies)
-- Sends those of several messages whose dedup key was not sent within the queue's window.
--
-- Parameters:
--   p_queue       name of the queue
--   p_payloads    JSON, one a message, null where it has a body; or null: all have
--   p_dedup_keys  one a message; a null element's message is always sent
--   p_keys        null, or one a message (null elements allowed)
--   p_headers     null, or one a message (null elements allowed)
--   p_delay       null or 0 = at once
--   p_priority    of all of them; null = 0
--   p_bodies      null, or one a message (null where it has a payload)
-- Returns: one row: ids, in the order of the payloads, the first one's where a message is a repeat; and repeated, which
-- of them are.
-- Raises: WR001, WR006, WR007, WR008, WR019, WR020, and what record_dedup_keys raises
-- Locks: those of record_dedup_keys; ROW EXCLUSIVE on the open segment (or on `delayed`), until the transaction ends.
create or replace function weir_log.send_once(
    p_queue text, p_payloads json[], p_dedup_keys text[], p_keys text[], p_headers jsonb[], p_delay interval,
    p_priority int, p_bodies bytea[] default null, out ids bigint[], out repeated boolean[])
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    q weir_internal.queues := weir_log.find_home(p_queue);
    v_all text[] := weir_internal.texts_of(p_payloads, p_bodies);
    v_count int := cardinality(v_all);
    v_own bigint[];        -- the ids that the messages get if none is a repeat
    v_digests uuid[];
    v_keys uuid[];         -- the digests, each once and ascending
    v_new bigint[];
    v_payloads text[];
    v_bodies bytea[];
    v_message_keys text[];
    v_headers jsonb[];
begin
    if q.no is null then
        execute 'select * from ' || weir_internal.call('send_once', p_queue, '$1, $2, $3, $4, $5, $6, $7')
        into ids, repeated using p_payloads, p_dedup_keys, p_keys, p_headers, p_delay, p_priority, p_bodies;
        return;
    end if;
    perform weir_internal.check_batch(p_queue, q.message_bytes_max, v_all, p_bodies, p_keys, p_headers);
    perform weir_internal.check_dedup_keys(p_queue, coalesce(q.dedup_window::text, ''), v_count, p_dedup_keys);
    if p_priority is not null then
        perform weir_internal.check_priority(p_queue, q.priorities, p_priority, p_keys is not null);
    end if;
    v_own := weir_internal.next_ids(v_count);
    if v_count = 1 and p_dedup_keys[1] is not null then
        ids := weir_log.record_dedup_keys(q, array[weir_internal.digest_of(p_dedup_keys[1])], v_own);
        repeated := array[ids <> v_own];
        if not repeated[1] then
            v_new := ids;
            v_payloads := v_all;
            v_bodies := p_bodies;
            v_message_keys := p_keys;
            v_headers := p_headers;
        end if;
    else
        v_digests := array(select weir_internal.digest_of(k) from unnest(p_dedup_keys) with ordinality u (k, i)
                           order by i);
        select array_agg(t.key order by t.key), array_agg(t.id order by t.key) into v_keys, ids
        from (select u.key, min(u.id) as id from unnest(v_digests, v_own) as u (key, id)
              where u.key is not null group by u.key) t;
        if v_keys is not null then
            ids := weir_log.record_dedup_keys(q, v_keys, ids);
        end if;
        select array_agg(coalesce(f.id, u.own) order by u.own), array_agg(coalesce(f.id <> u.own, false) order by u.own)
        into ids, repeated
        from unnest(v_own, v_digests) as u (own, key)
        left join unnest(v_keys, ids) as f (key, id) using (key);
        select array_agg(u.id order by u.id), array_agg(u.payload order by u.id),
            case when p_keys is not null then array_agg(u.key order by u.id) end,
            case when p_headers is not null then array_agg(u.headers order by u.id) end,
            case when p_bodies is not null then array_agg(u.body order by u.id) end
        into v_new, v_payloads, v_message_keys, v_headers, v_bodies
        from unnest(ids, repeated, v_all, p_keys, p_headers, p_bodies) as u (id, repeated, payload, key, headers, body)
        where not u.repeated;
    end if;
    if v_new is null then
        return;
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, cardinality(v_new));
    end if;
    if p_delay <> interval '0' then
        perform weir_log.delay(q, u.id, u.payload, u.body, u.key, u.headers, p_delay)
        from unnest(v_new, v_payloads, v_bodies, v_message_keys, v_headers) as u (id, payload, body, key, headers);
    else
        perform weir_log.append_batch(
            q, v_new, v_payloads, v_bodies, v_message_keys, v_headers, coalesce(p_priority, 0));
    end if;
end
$$;

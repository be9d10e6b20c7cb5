-- send_once
-- Template of weir_internal."send_once:<queue>": sends those of several messages whose dedup key was not sent within
-- the window. Part of the right to produce.
--
-- Parameters:
--   p_payloads    one a message, none null
--   p_dedup_keys  one a message; a null element's message is always sent
--   p_keys        null, or one a message (null elements allowed)
--   p_headers     null, or one a message (null elements allowed)
--   p_delay       null or 0 = at once
--   p_priority    of all of them; null = 0
-- Returns: one row: ids, in the order of the payloads, the first one's where a message is a repeat; and repeated, which
-- of them are.
-- Raises: WR006, WR007, WR008, WR012, WR019, WR020, and what <q>_remember raises
-- Locks: those of <q>_remember; ROW EXCLUSIVE on the open segment (or on `later`), until the transaction ends.
insert into weir_internal.templates (name, body) values ('send_once', $template$
create or replace function weir_internal."send_once:{name}"(
    p_payloads jsonb[], p_dedup_keys text[], p_keys text[], p_headers jsonb[], p_delay interval, p_priority int,
    out ids bigint[], out repeated boolean[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $body$
declare
    v_count int := cardinality(p_payloads);
    v_own bigint[];        -- the ids that the messages get if none is a repeat
    v_digests uuid[];
    v_keys uuid[];         -- the digests, each once and ascending
    v_new bigint[];
    v_payloads jsonb[];
    v_message_keys text[];
    v_headers jsonb[];
    r weir_internal.log_record;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    perform weir_internal.check_batch('{name}', {message_bytes_max}, p_payloads, p_keys, p_headers);
    perform weir_internal.check_dedup_keys('{name}', '{dedup_window}', v_count, p_dedup_keys);
    if p_priority is not null then
        perform weir_internal.check_priority('{name}', {priorities}, p_priority, p_keys is not null);
    end if;
    v_own := array(select nextval('weir_internal.{q}_ids') from generate_series(1, v_count));
    if v_count = 1 and p_dedup_keys[1] is not null then
        ids := weir_internal.{q}_remember(array[weir_internal.digest_of(p_dedup_keys[1])], v_own);
        repeated := array[ids <> v_own];
        if not repeated[1] then
            v_new := ids;
            v_payloads := p_payloads;
            v_message_keys := p_keys;
            v_headers := p_headers;
        end if;
    else
        v_digests := array(select weir_internal.digest_of(k) from unnest(p_dedup_keys) k);
        select array_agg(t.key order by t.key), array_agg(t.id order by t.key) into v_keys, ids
        from (select u.key, min(u.id) as id from unnest(v_digests, v_own) as u (key, id)
              where u.key is not null group by u.key) t;
        if v_keys is not null then
            ids := weir_internal.{q}_remember(v_keys, ids);
        end if;
        select array_agg(coalesce(f.id, u.own) order by u.own), array_agg(coalesce(f.id <> u.own, false) order by u.own)
        into ids, repeated
        from unnest(v_own, v_digests) as u (own, key)
        left join unnest(v_keys, ids) as f (key, id) using (key);
        select array_agg(u.id order by u.id), array_agg(u.payload order by u.id),
            case when p_keys is not null then array_agg(u.key order by u.id) end,
            case when p_headers is not null then array_agg(u.headers order by u.id) end
        into v_new, v_payloads, v_message_keys, v_headers
        from unnest(ids, repeated, p_payloads, p_keys, p_headers) as u (id, repeated, payload, key, headers)
        where not u.repeated;
    end if;
    if v_new is null then
        return;
    end if;
    --{ {limited}
    if v_new[cardinality(v_new)] > pg_sequence_last_value('weir_internal.{q}_backlog_end') then
        perform weir_internal.admit({no}, cardinality(v_new));
    end if;
    --}
    if p_delay <> interval '0' then
        perform weir_internal.{q}_delay(u.id, u.payload, u.key, u.headers, p_delay)
        from unnest(v_new, v_payloads, v_message_keys, v_headers) as u (id, payload, key, headers);
    elsif v_count = 1 then
        r.id := v_new[1];
        r.n := 1;
        r.lane := case when v_message_keys[1] is not null
            then weir_internal.lane_of(v_message_keys[1], {level_lanes})
            else coalesce(p_priority, 0) * {level_lanes} + weir_internal.spread(r.id, {level_lanes}) end;
        r.keys := case when v_message_keys[1] is not null then v_message_keys end;
        r.headers := case when v_headers[1] is not null then v_headers end;
        r.payloads := v_payloads;
        perform weir_internal.{q}_append(r);
    else
        perform weir_internal.{q}_append_batch(v_new, v_payloads, v_message_keys, v_headers,
            coalesce(p_priority, 0));
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

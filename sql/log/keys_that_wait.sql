-- weir_log.keys_that_wait(q, g, c, p_key_queues), messages_with(o, p_lane, p_key_queues), messages_without(...)
-- Parts of weir_log.hold_back: which key queues of a record are not free, and what the record holds of some, or of all
-- others.
--
-- A claim of the lane that does not stand in the key queue was made when that was empty, so if one is unfinished, all
-- that stands there came out of no claim. One that did, at the head, tells that no other claim can have the key.
--
-- Parameters:
--   q, g          queue and group
--   c             the lane's cursor, as weir_log.trim_inflight returned it
--   p_key_queues  key queues
--   o             messages of a lane
--   p_lane        the lane
-- Returns: keys_that_wait: behind, those in which messages stand; late, those that a claim may hold which is being
--   settled at this moment. messages_with: messages, not delivered yet. messages_without: the rest of the record.
-- Raises: WR016
-- Locks: as hold_back.
create or replace function weir_log.keys_that_wait(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_key_queues text[],
    out behind text[], out late text[])
language plpgsql
as $$
declare
    k record;
    u bigint;
    v_asked text[] := '{}';
    v_hashes int[] := '{}';
    v_standing text[];
    v_is_settled boolean := false;
begin
    behind := '{}';
    late := '{}';
    for k in
        select n.key_queue, weir_internal.hash_of(substr(n.key_queue, 2), c.lane) as hash, f.was_delayed,
            f.was_delayed is not null as is_parked
        from unnest(p_key_queues) n (key_queue)
        left join lateral (
            select p.was_delayed from weir_log.parked p
            where p.group_no = g.no and p.key_queue = n.key_queue order by p.no limit 1) f on true
    loop
        if not k.was_delayed then
            behind := behind || k.key_queue;
        elsif k.hash = any(c.keys) then
            v_asked := v_asked || k.key_queue;
            v_hashes := v_hashes || k.hash;
        elsif k.is_parked then
            behind := behind || k.key_queue;
        end if;
    end loop;
    if v_asked = '{}' then
        return;
    end if;
    foreach u in array weir_log.claims_with(c, v_hashes) loop
        v_standing := weir_log.queue_claimed(q, g, c.lane, u, v_asked);
        v_is_settled := v_is_settled or v_standing is null;
        behind := behind || coalesce(v_standing, '{}');
    end loop;
    v_asked := array(select a from unnest(v_asked) a where a not in (select unnest(behind)));
    if v_is_settled then
        late := v_asked;
    else -- given back just now, perhaps
        behind := behind || array(
            select a from unnest(v_asked) a
            where (select true from weir_log.parked p
                   where p.group_no = g.no and p.key_queue = a order by p.no limit 1));
    end if;
end
$$;
create or replace function weir_log.messages_with(o weir.message_record, p_lane int, p_key_queues text[])
returns weir_internal.delayed_row[]
language plpgsql
as $$
begin
    return array(
        select row(null, null, null, null, coalesce(u.id, o.first_id + u.i - 1), 0, u.key, u.headers, u.payload,
                   u.body, coalesce(u.enqueued_at, o.enqueued_at), null)::weir_internal.delayed_row
        from unnest(o.ids, o.keys, o.headers, o.payloads, o.bodies, o.enqueued_times) with ordinality
            u (id, key, headers, payload, body, enqueued_at, i)
        where weir_internal.line_of(u.key, p_lane) in (select unnest(p_key_queues))
        order by u.i);
end
$$;
create or replace function weir_log.messages_without(o weir.message_record, p_lane int, p_key_queues text[])
returns weir.message_record
language plpgsql
as $$
begin
    select count(*), array_agg(m.id order by m.i), array_agg(m.key order by m.i), array_agg(m.payload order by m.i),
        case when o.headers is not null then array_agg(m.headers order by m.i) end,
        case when o.enqueued_times is not null then array_agg(m.enqueued_at order by m.i) end,
        case when o.bodies is not null then array_agg(m.body order by m.i) end
    into o.n, o.ids, o.keys, o.payloads, o.headers, o.enqueued_times, o.bodies
    from (
        select coalesce(u.id, o.first_id + u.i - 1) as id, u.i, u.key, u.payload, u.headers, u.enqueued_at, u.body
        from unnest(o.ids, o.keys, o.headers, o.payloads, o.bodies, o.enqueued_times) with ordinality
            u (id, key, headers, payload, body, enqueued_at, i)
        where weir_internal.line_of(u.key, p_lane) not in (select unnest(p_key_queues))) m;
    o.first_id := o.ids[1];
    return o;
end
$$;

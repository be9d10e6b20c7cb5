-- weir_log.deliver_fair(q, g, p_want, p_flight, p_lease)
-- Lets the key queues of a group have their turns: each that waits gets an equal share of what is wanted, in the order
-- in which they wait, one message at least. One that still has messages goes to the end, unless its key has as many
-- claimed as it may. All that is delivered goes into lane -1, as one record that one claim refers to. The caller holds
-- the group's lock and that of lane -1.
--
-- Parameters:
--   q, g      queue and group
--   p_want    messages
--   p_flight  how many messages of each key queue are claimed, see weir_log.key_flight
--   p_lease   how long the messages are the caller's
-- Returns: one record; its n is null when no key queue can be delivered from.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `key_queues`, `key_turns`, the open segment and the claim log.
create or replace function weir_log.deliver_fair(
    q weir_internal.queues, g weir_internal.groups, p_want int, p_flight jsonb, p_lease interval)
returns weir.message_record
language plpgsql
as $$
declare
    v_no bigint;
    v_before bigint := coalesce((
        select t.pos from weir_log.key_turns t
        where t.group_no = g.no and t.key_queue = '' order by t.no desc limit 1), 0);
    v_served bigint := v_before;
    v_since timestamptz := weir_internal.ttl_start(g);
    v_part int;           -- messages taken at a time, for the memory they need
    v_last bigint;
    v_names text[];       -- the key queues whose turn it is
    v_places bigint[];    -- how far each is delivered
    v_messages weir_internal.delayed_row[] := '{}';
    v_of text[] := '{}';  -- the key queue of each
    s record;
begin
    loop
        v_part := least(p_want - cardinality(v_messages), 100, greatest(1, 268435456 / q.message_bytes_max));
        exit when v_part <= 0 or pg_column_size(v_messages) > 33554432;
        select array_agg(t.key_queue), array_agg(t.pos), max(t.no) into v_names, v_places, v_last
        from (select * from weir_log.key_turns e
              where e.group_no = g.no and e.state = 'w' and e.no > v_served order by e.no limit v_part) t;
        exit when v_names is null;
        v_no := coalesce(v_no, nextval('weir_internal.claim_numbers'));
        v_served := v_last;
        with served as materialized (
            select u.i, u.key_queue, coalesce(m.pos, u.pos) as pos, m.rows, m.n + coalesce(f.n, 0) as n
            from unnest(v_names, v_places) with ordinality u (key_queue, pos, i)
            cross join lateral (select (p_flight ->> u.key_queue)::int as n) f
            cross join lateral (
                select array_agg(row(w.*)::weir_internal.key_queue_row) as rows, max(w.no) as pos,
                    count(*) filter (where w.enqueued_at >= v_since) as n
                from (select * from weir_log.key_queues e
                      where e.group_no = g.no and e.key_queue = u.key_queue and e.no > u.pos
                      order by e.no
                      limit greatest(0, least(greatest(1, v_part / cardinality(v_names)),
                          case when u.key_queue <> 'l' then g.key_concurrency_max - coalesce(f.n, 0) end))) w) m),
        gone_on as (
            insert into weir_log.key_turns (group_no, key_queue, no, state, pos)
            select g.no, v.key_queue, nextval('weir_internal.claim_numbers'),
                case when not exists (select from weir_log.key_queues e
                                      where e.group_no = g.no and e.key_queue = v.key_queue and e.no > v.pos) then 'e'
                     when v.key_queue <> 'l' and v.n >= g.key_concurrency_max then 's'
                     else 'w' end::"char",
                v.pos
            from served v order by v.i)
        select array_agg(row(null, q.no, g.no, null, m.id, m.attempts, m.key, m.headers, m.payload, m.body,
                             m.enqueued_at, null)::weir_internal.delayed_row) as messages,
            array_agg(v.key_queue) as names, (select jsonb_object_agg(v.key_queue, v.n) from served v) as flight
        into s
        from served v cross join lateral unnest(v.rows) m
        where m.enqueued_at >= v_since;
        p_flight := p_flight || s.flight;
        continue when s.messages is null;
        v_messages := v_messages || s.messages;
        v_of := v_of || s.names;
    end loop;
    if v_served > v_before then
        insert into weir_log.key_turns (group_no, key_queue, no, state, pos, ids, key_queues)
        select g.no, '', v_no, 'd', v_served, case when g.key_concurrency_max is not null then k.ids end,
            case when g.key_concurrency_max is not null then v_of end
        from (select array(select m.id from unnest(v_messages) m) as ids) k;
    end if;
    if cardinality(v_messages) = 0 then
        return null;
    end if;
    return weir_log.claim_record(
        q, g, weir_log.refresh_cursor(g, -1, 1, weir_internal.clock()), null, v_messages, p_lease);
end
$$;

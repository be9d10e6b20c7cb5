-- weir_log.key_flight(g, p_claims), weir_log.stopped_key_queues(g, p_flight), weir_log.has_key_turn(g),
-- weir_log.clear_key_queues(g)
-- How the key queues of a group stand that shares its deliveries out among keys; see log/set_aside.sql. key_flight
-- counts what is claimed of each key: of the claims on the group's list, by what their deliveries recorded.
-- stopped_key_queues tells those that waited for that, and which need no longer. has_key_turn tells, without the
-- group's lock, whether a key queue can be delivered from. clear_key_queues forgets them with the messages in them; its
-- caller holds the lock.
--
-- Parameters:
--   g         the group
--   p_claims  the claims that count; null: those that have not expired
--   p_flight  what key_flight returned
-- Returns: key_flight: {key queue: messages} of each that has something on the list; stopped_key_queues: the key
-- queues,
--   how far each is delivered, and whether it need not wait any longer; has_key_turn: true or false.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log; clear_key_queues: the rows.
create or replace function weir_log.key_flight(g weir_internal.groups, p_claims bigint[])
returns jsonb
language plpgsql
as $$
declare
    v_inflight bigint[] := weir_log.inflight_of(g);
    s record;
    v_ids int8multirange; -- what is claimed
begin
    if cardinality(v_inflight) = 0 then
        return '{}';
    end if;
    s := weir_log.inflight_claims(v_inflight, weir_internal.clock());
    v_ids := (
        select range_agg(m) from unnest(s.claims, s.rests, s.expired) u (id, rest, expired)
        cross join lateral unnest(u.rest) m
        where case when p_claims is null then not u.expired else u.id = any(p_claims) end);
    return (
        select coalesce(jsonb_object_agg(f.key_queue, f.n), '{}')
        from (
            select m.key_queue, count(distinct m.id) filter (where m.id <@ v_ids) as n
            from (
                select distinct t.no from unnest(v_inflight) c (no)
                cross join lateral (
                    select e.no from weir_log.key_turns e
                    where e.group_no = g.no and e.key_queue = '' and e.no <= c.no order by e.no desc limit 1) t) d
            cross join lateral (
                select e.ids, e.key_queues from weir_log.key_turns e
                where e.group_no = g.no and e.key_queue = '' and e.no = d.no limit 1) t
            cross join lateral unnest(t.ids, t.key_queues) m (id, key_queue)
            group by m.key_queue) f);
end
$$;
create or replace function weir_log.stopped_key_queues(g weir_internal.groups, p_flight jsonb)
returns table (key_queue text, pos bigint, freed boolean)
language plpgsql
as $$
#variable_conflict use_column
begin
    return query
    select f.key, n.pos, f.value::int < g.key_concurrency_max
    from jsonb_each_text(p_flight) f
    cross join lateral (
        select t.state, t.pos from weir_log.key_turns t
        where t.group_no = g.no and t.key_queue = f.key order by t.no desc limit 1) n
    where n.state = 's';
end
$$;
create or replace function weir_log.has_key_turn(g weir_internal.groups)
returns boolean
language plpgsql
as $$
declare
    v_served bigint := coalesce((
        select t.pos from weir_log.key_turns t
        where t.group_no = g.no and t.key_queue = '' order by t.no desc limit 1), 0);
begin
    return exists (select from weir_log.key_turns t where t.group_no = g.no and t.state = 'w' and t.no > v_served)
        or g.key_concurrency_max is not null and exists (
            select from weir_log.stopped_key_queues(g, weir_log.key_flight(g, null)) s where s.freed);
end
$$;
create or replace function weir_log.clear_key_queues(g weir_internal.groups)
returns void
language plpgsql
as $$
begin
    delete from weir_log.key_queues k where k.group_no = g.no;
    delete from weir_log.key_turns t where t.group_no = g.no;
end
$$;

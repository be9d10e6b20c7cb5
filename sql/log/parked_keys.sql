-- weir_log.parked_keys(p_queue, p_group, p_max, p_after, p_after_lane)
-- Lists keys of which messages wait in key queues: see weir.parked_keys. It is stable, so that it reads in one
-- snapshot.
--
-- Parameters:
--   p_queue       name of the queue
--   p_group       name of the group
--   p_max         1 to 1,000 rows at most
--   p_after       only keys above this; null: from the first
--   p_after_lane  only key queues of messages without a key, of lanes behind this; null: all
-- Returns: one row a key queue, by key.
-- Raises: WR001, WR003, WR006, WR019
-- Locks: ACCESS SHARE on `parked`, `key_queues` and `key_turns`, and on the claim log.
create or replace function weir_log.parked_keys(
    p_queue text, p_group text, p_max int, p_after text, p_after_lane int)
returns setof weir.parked_key
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
    v_after text := coalesce(weir_internal.line_of(p_after, p_after_lane), ''); -- where the page before ended
    v_now timestamptz := weir_internal.clock();
begin
    if p_max is null or p_max not between 1 and 1000 then
        raise exception 'max % is out of range', coalesce(p_max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 keys.';
    elsif p_after is not null and p_after_lane is not null then
        raise exception 'after key "%" and lane % at once', p_after, p_after_lane
            using errcode = 'WR006', hint = 'Give what the page before ended with: after or after_lane.';
    end if;
    return query
    with recursive queues (key_queue) as (
        (select p.key_queue from weir_log.parked p
         where p.group_no = g.no and p.key_queue > v_after order by p.key_queue limit 1)
        union all
        select (select p.key_queue from weir_log.parked p
                where p.group_no = g.no and p.key_queue > l.key_queue order by p.key_queue limit 1)
        from queues l where l.key_queue is not null)
    select h.key, case when h.key is null then h.lane end, n.messages::int, h.id, h.attempts::int, h.enqueued_at,
        h.parked_at, h.due_at,
        case when v_now < (select max(c.deadline) from weir_log.claims_2 c where c.claim = h.holder) then 'claim'
             when h.due_at > v_now then 'time' else 'consumer' end,
        h.reason
    from (select key_queue from queues where key_queue is not null limit p_max) l
    cross join lateral (
        select * from weir_log.parked p where p.group_no = g.no and p.key_queue = l.key_queue order by p.no limit 1) h
    cross join lateral (
        select count(*) as messages
        from (select from weir_log.parked p
              where p.group_no = g.no and p.key_queue = l.key_queue order by p.no limit 1000) c) n;
    if g.keyed then
        return query
        with recursive queues (key_queue) as (
            (select t.key_queue from weir_log.key_turns t
             where t.group_no = g.no and t.key_queue > v_after order by t.key_queue limit 1)
            union all
            select (select t.key_queue from weir_log.key_turns t
                    where t.group_no = g.no and t.key_queue > l.key_queue order by t.key_queue limit 1)
            from queues l where l.key_queue is not null)
        select h.key, null::int, n.messages::int, h.id, h.attempts::int, h.enqueued_at, null::timestamptz,
            null::timestamptz, case s.state when 'w' then 'turn' else 'key_concurrency' end, null
        from queues l
        cross join lateral (
            select t.state, t.pos from weir_log.key_turns t
            where t.group_no = g.no and t.key_queue = l.key_queue order by t.no desc limit 1) s
        cross join lateral (
            select * from weir_log.key_queues m
            where m.group_no = g.no and m.key_queue = l.key_queue and m.no > s.pos order by m.no limit 1) h
        cross join lateral (
            select count(*) as messages
            from (select from weir_log.key_queues m
                  where m.group_no = g.no and m.key_queue = l.key_queue and m.no > s.pos order by m.no limit 1000) c) n
        limit p_max;
    end if;
end
$$;

-- weir_log.aside_depth(q, g, c, p_now), weir_log.sample_key_queues(g), weir_log.hot_key(g, p_waiting),
-- weir_log.held_by(g)
-- Parts of weir_log.group_depth. aside_depth: the messages that stand in no lane: delayed, parked, and in key queues.
-- sample_key_queues: how many messages are in key queues, by key. hot_key: the key that most of a group's messages
-- have. held_by: which of its limits holds a group back at this moment.
--
-- Parameters:
--   q, g       queue and group
--   c          the group's cursor of lane -1
--   p_now      the time
--   p_waiting  records that wait in lanes
-- Returns: aside_depth: waiting, delayed, parked: see weir.group_stats; oldest, since when the first of `waiting` is
-- due; exact. sample_key_queues: as weir_internal.sample_rows. hot_key: the key and how many messages have it, about.
-- held_by: as in weir.group_stats.
-- Raises: none
-- Locks: ACCESS SHARE on the tables.
create or replace function weir_log.aside_depth(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_now timestamptz,
    out waiting bigint, out delayed bigint, out parked bigint, out oldest timestamptz, out exact boolean)
language plpgsql stable
as $$
declare
    s record;
    v_for text := '(l.group_no is null or l.group_no = ($1).no)
        and l.enqueued_at >= case when l.group_no is null then ($1).since else weir_internal.ttl_start($1) end
        and (($1).purged is null or not pg_visible_in_snapshot(l.txid, ($1).purged))
        and (l.due_at, l.id) > (($2).due_at, ($2).due_id) and l.queue_no = ($1).queue_no';
begin
    exact := true;
    parked := 0;
    select count(*) as looked, count(*) filter (where l.due_at <= p_now and l.is_for) as due,
        count(*) filter (where l.due_at > p_now and l.is_for) as later,
        min(l.due_at) filter (where l.due_at <= p_now and l.is_for) as oldest
    into s
    from (select d.due_at, weir_log.is_for(g, d) as is_for from weir_log.delayed d
          where d.queue_no = q.no and (d.due_at, d.id) > (c.due_at, c.due_id)
          order by d.due_at, d.id limit 1000) l;
    waiting := s.due;
    delayed := s.later;
    oldest := s.oldest;
    if s.looked = 1000 then
        exact := false;
        waiting := greatest(waiting, (select sum(r.n) from weir_internal.sample_rows(
            'weir_log.delayed', v_for || format(' and l.due_at <= %L', p_now), g, c) r));
        delayed := greatest(delayed, (select sum(r.n) from weir_internal.sample_rows(
            'weir_log.delayed', v_for || format(' and l.due_at > %L', p_now), g, c) r));
    end if;
    select count(*) as n, min(l.due_at) as oldest into s from weir_log.late(q, g, c) l;
    waiting := waiting + s.n;
    oldest := least(oldest, s.oldest);
    if g.ordered and not g.keyed then
        select count(*) as looked, count(*) filter (where p.holder is null and p.due_at <= p_now) as due,
            count(*) filter (where p.holder is null and (p.due_at <= p_now) is not true) as behind,
            min(p.due_at) filter (where p.holder is null and p.due_at <= p_now) as oldest
        into s
        from (select * from weir_log.parked p where p.group_no = g.no limit 1000) p;
        if s.looked = 1000 then
            exact := false;
            s.due := greatest(s.due, (select sum(r.n) from weir_internal.sample_rows('weir_log.parked',
                format('l.group_no = ($1).no and l.holder is null and l.due_at <= %L', p_now), g, c) r));
            s.behind := greatest(s.behind, (select sum(r.n) from weir_internal.sample_rows('weir_log.parked',
                format('l.group_no = ($1).no and l.holder is null and (l.due_at <= %L) is not true', p_now), g, c) r));
        end if;
        waiting := waiting + s.due;
        parked := s.behind;
        oldest := least(oldest, s.oldest);
    elsif g.keyed then
        select count(*) as looked, count(*) filter (where k.no > t.pos) as n,
            min(k.enqueued_at) filter (where k.no > t.pos) as oldest
        into s
        from (select * from weir_log.key_queues k where k.group_no = g.no limit 1000) k
        cross join lateral (select t.pos from weir_log.key_turns t
                            where t.group_no = g.no and t.key_queue = k.key_queue order by t.no desc limit 1) t;
        if s.looked = 1000 then
            exact := false;
            s.n := greatest(s.n, (select sum(r.n) from weir_log.sample_key_queues(g) r));
        end if;
        waiting := waiting + s.n;
        oldest := least(oldest, s.oldest);
    end if;
end
$$;
create or replace function weir_log.sample_key_queues(g weir_internal.groups)
returns table (key text, n bigint)
language plpgsql stable
as $$
begin
    return query select * from weir_internal.sample_rows('weir_log.key_queues',
        'l.group_no = ($1).no and l.no > (
             select t.pos from weir_log.key_turns t
             where t.group_no = l.group_no and t.key_queue = l.key_queue order by t.no desc limit 1)', g, null);
end
$$;
create or replace function weir_log.hot_key(
    g weir_internal.groups, p_waiting weir_internal.waiting_record[], out key text, out n float8)
language plpgsql stable
as $$
#variable_conflict use_column
begin
    select k.key, sum(k.n) into key, n
    from (
        select u.key, sum(w.weight) as n from unnest(p_waiting) w cross join lateral unnest(w.keys) u (key)
        group by u.key
        union all
        select r.key, r.n from weir_internal.sample_rows(
            'weir_log.parked', 'l.group_no = ($1).no and l.holder is null', g, null) r
        where g.ordered and not g.keyed
        union all
        select r.key, r.n from weir_log.sample_key_queues(g) r where g.keyed) k
    where k.key is not null
    group by k.key order by sum(k.n) desc, k.key limit 1;
end
$$;
create or replace function weir_log.held_by(g weir_internal.groups)
returns text
language plpgsql
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_claimed bigint;
begin
    if g.concurrency_max is not null then
        select sum(u.n) into v_claimed
        from weir_log.inflight_claims(weir_log.inflight_of(g), v_now) t
        cross join lateral unnest(t.lefts, t.expired) u (n, expired) where not u.expired;
        if v_claimed >= g.concurrency_max then
            return 'concurrency';
        end if;
    end if;
    if g.rate_max is not null and (select r.room from weir_internal.rate_room(g, v_now) r) <= 0 then
        return 'rate';
    end if;
    if g.key_concurrency_max is not null and exists (select from weir_log.in_key_queues k where k.group_no = g.no)
        and not weir_log.has_key_turn(g) then
        return 'key_concurrency';
    end if;
    return null;
end
$$;

-- weir_log.group_depth(q, g, p_segments), weir_log.seen_cursors(q, g)
-- The messages of a group by what becomes of them. All is read in one snapshot, that of the statement that calls this,
-- so that a message on its way from one place to another is counted in one of them. Small numbers are counted; beyond
-- 1,000 rows of a kind, numbers are estimated from 128 pages of the table.
--
-- Parameters:
--   q, g        queue and group
--   p_segments  as weir_log.ring_segments told before the snapshot was taken
-- Returns: group_depth: the fields up to held_by, but for sent_rate; seen_cursors: the group's cursors as of the
-- snapshot.
-- Raises: none
-- Locks: ACCESS SHARE on the log's tables.
create or replace function weir_log.group_depth(
    q weir_internal.queues, g weir_internal.groups, p_segments bigint[])
returns weir.group_stats
language plpgsql stable
as $$
declare
    o weir.group_stats;
    c weir_internal.claim;
    a weir_internal.claim; -- of lane -1
    s record;
    v_now timestamptz := weir_internal.clock();
    v_cursors weir_internal.claim[] := array(select k from weir_log.seen_cursors(q, g) k);
    v_max int := greatest(32, 1000 / cardinality(v_cursors));
    v_head weir_internal.waiting_record[];
    v_waiting weir_internal.waiting_record[] := '{}'; -- of cursors all of whose records were read
    v_more weir_internal.waiting_record[] := '{}';    -- the first records of the others
    v_behind weir_internal.claim[] := '{}';           -- these
    v_oldest timestamptz;
begin
    o.queue_name := q.name;
    o.group_name := g.name;
    o.lanes := q.key_lanes;
    o.exact := true;
    o.claimed := 0;
    o.expired := 0;
    o.delivered_rate := 0;
    o.expiries := 0;
    foreach c in array v_cursors loop
        o.delivered_at := greatest(o.delivered_at, c.claimed_at);
        if c.lane = -1 then
            a := c;
        end if;
        if c.claimed_at is not null then
            s := weir_log.claim_depth(c, greatest(16, v_max / 8), v_now);
            o.claimed := o.claimed + s.claimed;
            o.expired := o.expired + s.expired;
            v_oldest := least(v_oldest, s.oldest);
            o.delivered_rate := o.delivered_rate + s.delivered_rate;
            o.expiries := o.expiries + s.expiries;
            o.exact := o.exact and s.exact;
        end if;
        continue when c.lane < 0 or c.width is not null;
        v_head := weir_log.head_0(c, q.no, p_segments, g.since, g.ordered or g.keyed, v_max)
            || weir_log.head_1(c, q.no, p_segments, g.since, g.ordered or g.keyed, v_max)
            || weir_log.head_2(c, q.no, p_segments, g.since, g.ordered or g.keyed, v_max)
            || weir_log.head_3(c, q.no, p_segments, g.since, g.ordered or g.keyed, v_max);
        if cardinality(v_head) < v_max then
            v_waiting := v_waiting || v_head;
        else
            v_more := v_more || v_head;
            v_behind := array_append(v_behind, c);
        end if;
    end loop;
    if cardinality(v_behind) > 0 then
        o.exact := false;
        v_head := weir_log.sample_0(v_behind, q.no, p_segments, g.since, g.ordered or g.keyed)
            || weir_log.sample_1(v_behind, q.no, p_segments, g.since, g.ordered or g.keyed)
            || weir_log.sample_2(v_behind, q.no, p_segments, g.since, g.ordered or g.keyed)
            || weir_log.sample_3(v_behind, q.no, p_segments, g.since, g.ordered or g.keyed);
        v_waiting := v_waiting || case
            when (select sum(w.n * w.weight) from unnest(v_head) w) > (select sum(w.n) from unnest(v_more) w)
            then v_head else v_more end;
        v_oldest := least(v_oldest, (select min(w.enqueued_at) from unnest(v_more) w));
    end if;
    select coalesce(round(sum(w.n * w.weight)), 0) + o.expired, least(v_oldest, min(w.enqueued_at))
    into o.waiting, v_oldest from unnest(v_waiting) w;
    s := weir_log.aside_depth(q, g, a, v_now);
    o.waiting := o.waiting + s.waiting;
    o.delayed := s.delayed;
    o.parked := s.parked;
    o.exact := o.exact and s.exact;
    v_oldest := least(v_oldest, s.oldest);
    o.oldest_age := case when v_oldest is not null then greatest(interval '0', v_now - v_oldest) end;
    select count(*) into o.dead
    from (select from weir_internal.dead_letters d where d.group_no = g.no limit 1000) d;
    if o.dead = 1000 then
        o.exact := false;
        o.dead := greatest(1000, (select sum(r.n) from weir_internal.sample_rows(
            'weir_internal.dead_letters', 'l.group_no = ($1).no', g, null) r));
    end if;
    if (g.ordered or g.keyed) and o.waiting + o.parked >= 100 then
        s := weir_log.hot_key(g, v_waiting);
        o.hot_key := s.key;
        o.hot_key_share := least(1, s.n / (o.waiting + o.parked));
    end if;
    o.held_by := case when g.limited then weir_log.held_by(g) end;
    return o;
end
$$;
create or replace function weir_log.seen_cursors(q weir_internal.queues, g weir_internal.groups)
returns setof weir_internal.claim
language plpgsql stable
as $$
declare
    b weir_internal.claim;
    c weir_internal.claim;
    v_lane int;
begin
    select * into b from weir_log.claims_2
    where kind = 'c' and group_no = 0 and lane = 0 and stripe = 1 order by id desc limit 1;
    if not pg_visible_in_snapshot(g.start_by, b.cur) then
        b := g.start;
    end if;
    b.group_no := g.no;
    b.stripe := 1;
    b.low := 0;
    b.claimed_at := null;
    foreach v_lane in array weir_log.lanes(q) loop
        select * into c from weir_log.claims_2
        where kind = 'c' and group_no = g.no and lane = v_lane and stripe = 1 order by id desc limit 1;
        if c.kind is null then
            c := b;
            c.lane := v_lane;
        end if;
        return next c;
        return query
        select s.* from generate_series(c.width, 2 * c.width - 1) i
        cross join lateral (select * from weir_log.claims_2 k
                            where k.kind = 'c' and k.group_no = g.no and k.lane = v_lane and k.stripe = i
                            order by k.id desc limit 1) s
        where c.width > 0;
    end loop;
end
$$;

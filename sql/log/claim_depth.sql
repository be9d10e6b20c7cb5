-- weir_log.claim_depth(c, p_max, p_now), weir_log.claims_between(c, p_max, p_newest)
-- How the claims of a cursor stand. claim_depth looks at the p_max oldest above its low watermark and at the p_max
-- newest. If there are more, it takes of what was delivered between them the share that is unfinished at both ends.
-- claims_between: one of the ends.
--
-- Parameters:
--   c         the cursor
--   p_max     claims to look at at each end
--   p_now     the time
--   p_newest  the newest, instead of the oldest
-- Returns: claim_depth: claimed, messages whose lease goes on; expired, messages whose lease has ended; oldest, since
-- when the first of these has; delivered_rate, expiries and exact: see weir.group_stats. claims_between: one row a
-- claim, its row, how many messages of it are left, its deadline as extended, and whether messages were taken from it.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.claim_depth(
    c weir_internal.claim, p_max int, p_now timestamptz,
    out claimed bigint, out expired bigint, out oldest timestamptz, out delivered_rate float8, out expiries bigint,
    out exact boolean)
language plpgsql stable
as $$
declare
    h record; -- the oldest
    t record; -- the newest
    v_between float8;
begin
    select max(b.id) as last, count(*) as n, max(b.total) as total, max(b.total) - min(b.total - b.n) as delivered,
        coalesce(sum(b.left_n) filter (where b.deadline > p_now), 0) as claimed,
        coalesce(sum(b.left_n) filter (where b.deadline <= p_now), 0) as expired,
        min(case when b.deadline > '-infinity' then b.deadline else b.claimed_at end)
            filter (where b.left_n > 0 and b.deadline <= p_now) as oldest
    into h from weir_log.claims_between(c, p_max, false) b;
    claimed := h.claimed;
    expired := h.expired;
    oldest := h.oldest;
    select min(b.id) filter (where b.id > h.last) as first, min(b.total - b.n) filter (where b.id > h.last) as passed,
        max(b.total) - min(b.total - b.n) filter (where b.id > h.last) as delivered,
        coalesce(sum(b.left_n) filter (where b.id > h.last and b.deadline > p_now), 0) as claimed,
        coalesce(sum(b.left_n) filter (where b.id > h.last and b.deadline <= p_now), 0) as expired,
        count(*) filter (where b.claimed_at > p_now - interval '10 minutes'
            and (b.was_taken or b.attempt > 1 and b.left_n > 0 and b.deadline <= p_now)) as expiries,
        coalesce(max(b.total) - min(b.total - b.n) filter (where b.claimed_at > p_now - interval '1 minute'), 0)
            / greatest(0.001, case when count(*) = p_max and min(b.claimed_at) > p_now - interval '1 minute'
                              then extract(epoch from p_now - min(b.claimed_at)) else 60 end) as rate
    into t from weir_log.claims_between(c, p_max, true) b;
    claimed := claimed + t.claimed;
    expired := expired + t.expired;
    delivered_rate := t.rate;
    expiries := t.expiries;
    exact := h.n < p_max or t.first is null or t.passed <= h.total;
    if not exact then
        v_between := (t.passed - h.total) / 2.0;
        claimed := claimed + round(v_between * (h.claimed / greatest(h.delivered, 1)::float8
                                                + t.claimed / greatest(t.delivered, 1)::float8));
        expired := expired + round(v_between * (h.expired / greatest(h.delivered, 1)::float8
                                                + t.expired / greatest(t.delivered, 1)::float8));
    end if;
end
$$;
create or replace function weir_log.claims_between(c weir_internal.claim, p_max int, p_newest boolean)
returns table (
    id bigint, n int, total bigint, claimed_at timestamptz, attempt int, left_n int,
    deadline timestamptz, was_taken boolean)
language plpgsql stable
as $$
#variable_conflict use_column
begin
    return query
    select e.id, e.n, coalesce(e.total, 0), e.claimed_at, e.attempt,
        case when coalesce(d.whole, false) then 0
             else weir_internal.count_ids(e.ids - coalesce(d.gone, '{}')) end,
        greatest(e.deadline, d.deadline), coalesce(d.was_taken, false)
    from (
        select o.*, lag(o.id) over () as before -- at a turn a claim may stand in both tables
        from (
            (select * from weir_log.claims_2 k
             where not p_newest and k.kind = 'c' and k.group_no = c.group_no and k.lane = c.lane
                 and k.stripe = c.stripe and k.id >= c.low and k.claim is not null order by k.id limit p_max)
            union all
            (select * from weir_log.claims_2 k
             where p_newest and k.kind = 'c' and k.group_no = c.group_no and k.lane = c.lane
                 and k.stripe = c.stripe and k.claim is not null order by k.id desc limit p_max)) o) e
    cross join lateral (
        select bool_or(k.kind = 'D' and k.ids is null) as whole, range_agg(m) as gone, max(k.deadline) as deadline,
            bool_or(k.kind = 'x' and k.claimed_at is not null) as was_taken
        from weir_log.claims_2 k
        left join lateral unnest(
            case when k.kind = 'd' then int8multirange(int8range(k.id, k.id + 1)) else k.ids end) m on true
        where k.claim = e.claim and k.kind <> 'c') d
    where e.id is distinct from e.before;
end
$$;

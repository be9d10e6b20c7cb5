-- weir_log.open_claims(g, p_asked, p_after, p_max)
-- The claims of a group that are not finished, expired or not. It is stable: it reads in the snapshot of the statement
-- that calls it.
--
-- Parameters:
--   g        the group
--   p_asked  only claims of these messages; null = of any
--   p_after  only rows above this
--   p_max    of each cursor at most so many rows
-- Returns: the claims' rows, with ids and n reduced to what is not done and the deadline as extended.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.open_claims(
    g weir_internal.groups, p_asked int8multirange, p_after bigint, p_max int)
returns setof weir_internal.claim
language plpgsql stable
as $$
declare
    c weir_internal.claim;
    o weir_internal.claim;
    v record;
    v_seen bigint;
    v_count int;
begin
    c.lane := 2147483647;
    loop
        select * into c from weir_log.claims_2 t
        where t.kind = 'c' and t.group_no = g.no and (t.lane, t.stripe) < (c.lane, coalesce(c.stripe, 0))
        order by t.lane desc, t.stripe desc, t.id desc limit 1;
        exit when c.kind is null;
        v_seen := 0;
        v_count := 0;
        for o in
            select * from weir_log.claims_2 t
            where t.kind = 'c' and t.group_no = c.group_no and t.lane = c.lane and t.stripe = c.stripe
                and t.id >= c.low and t.id > p_after and t.claim is not null and (p_asked is null or t.ids && p_asked)
                and (select true from weir_log.claims_2 e -- settled as a whole, as nearly always
                     where e.claim = t.claim and e.kind = 'D' and e.ids is null limit 1) is null
            order by t.id
        loop
            continue when o.id = v_seen; -- one that is being carried over stands in both tables
            v_seen := o.id;
            select range_agg(m) filter (where e.kind <> 'e') as done, max(e.deadline) as deadline,
                coalesce(bool_or(e.kind = 'x' and e.ids is null), false) as whole
            into v
            from weir_log.claims_2 e
            left join lateral unnest(
                case when e.kind = 'd' then int8multirange(int8range(e.id, e.id + 1)) else e.ids end) m on true
            where e.claim = o.claim and e.kind <> 'c';
            o.ids := o.ids - coalesce(v.done, '{}');
            continue when v.whole or isempty(o.ids);
            o.n := weir_internal.count_ids(o.ids);
            o.deadline := greatest(o.deadline, v.deadline);
            return next o;
            v_count := v_count + 1;
            exit when v_count >= p_max;
        end loop;
    end loop;
end
$$;

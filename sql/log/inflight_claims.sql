-- weir_log.inflight_claims(p_claims, p_now), weir_log.inflight_of(g)
-- Which claims of a group with a concurrency_max, of its own or per key, are unfinished. The newest row of the group's
-- pseudo cursor, lane -2, lists those that were when it was written. It is written by whoever holds the group's lock,
-- with what he claims (count_claim), and no claim is made without. So each claim is looked at while it is on the list,
-- and never again.
--
-- Parameters:
--   p_claims  claims
--   p_now     time against which leases expire
--   g         the group
-- Returns: inflight_of: the list. inflight_claims: those of them that are unfinished; lefts, how many messages each
-- still
--   has; expired, whether its lease has ended; rests, those messages.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.inflight_claims(
    p_claims bigint[], p_now timestamptz, out claims bigint[], out lefts int[], out expired boolean[],
    out rests int8multirange[])
language plpgsql
as $$
declare
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        select array_agg(u.id), array_agg(weir_internal.count_ids(l.rest)), array_agg(s.deadline <= p_now),
            array_agg(l.rest)
        into claims, lefts, expired, rests
        from unnest(p_claims) u (id)
        cross join lateral ( -- nothing is there: finished long ago
            select range_agg(m) filter (where k.kind = 'c') as ids, range_agg(m) filter (where k.kind <> 'c') as gone,
                coalesce(bool_or(k.kind in ('D', 'x') and k.ids is null), false) as whole, max(k.deadline) as deadline
            from weir_log.claims_2 k
            left join lateral unnest(
                case when k.kind = 'd' then int8multirange(int8range(k.id, k.id + 1)) else k.ids end) m on true
            where k.claim = u.id) s
        cross join lateral (select s.ids - coalesce(s.gone, '{}') as rest) l
        where not s.whole and not isempty(l.rest);
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
end
$$;
create or replace function weir_log.inflight_of(g weir_internal.groups)
returns bigint[]
language plpgsql
as $$
begin
    return coalesce((weir_log.cursor(g, -2, 1)).inflight, '{}');
end
$$;

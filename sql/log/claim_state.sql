-- weir_log.claim_state(p_claim)
-- What the claim log says of a claim.
--
-- Parameters:
--   p_claim  the claim
-- Returns: parts, its rows, one a lane; ids, what they hold; done, what its holder settled; taken, what was given to
-- others; deadline, as extended; parked, whether messages of it stand in key queues. parts is null when the claim is
-- not there.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.claim_state(
    p_claim bigint, out parts weir_internal.claim[], out ids int8multirange, out done int8multirange,
    out taken int8multirange, out deadline timestamptz, out parked boolean)
language plpgsql
as $$
declare
    v_ring bigint;
    v_rest boolean;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        parts := array(
            select row(e.*)::weir_internal.claim
            from (select distinct on (k.id) k.* from weir_log.claims_2 k -- at a turn a row may stand in both tables
                  where k.claim = p_claim and k.kind = 'c' order by k.id) e);
        select range_agg(m) filter (where k.kind = 'c'), range_agg(m) filter (where k.kind in ('d', 'D')),
            range_agg(m) filter (where k.kind = 'x'), coalesce(bool_or(k.kind = 'D' and k.ids is null), false),
            max(k.deadline), coalesce(bool_or(k.kind = 'p'), false)
        into ids, done, taken, v_rest, deadline, parked
        from weir_log.claims_2 k
        left join lateral unnest(
            case when k.kind = 'd' then int8multirange(int8range(k.id, k.id + 1)) else k.ids end) m on true
        where k.claim = p_claim;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    if cardinality(parts) = 0 then
        parts := null;
    end if;
    taken := coalesce(taken, '{}');
    done := coalesce(done, '{}');
    if v_rest then
        done := ids - taken;
    end if;
end
$$;

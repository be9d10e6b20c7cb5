-- weir_log.trim_inflight(g, c), weir_log.inflight_0 .. 2, weir_log.claims_with(c, p_hashes)
-- Which claims of a lane of an ordered group are unfinished. No claim of the lane is missing when the caller holds its
-- lock; one that has finished since does not matter.
--
-- Parameters:
--   g         the group
--   c         the cursor of the lane; claims_with: as trim_inflight returned it
--   p_hashes  hashes of key queues
--   p_claims  claims
--   p_lane    the lane
-- Returns: trim_inflight: the cursor; inflight are the claims of it that hold something in the lane still, and keys the
--   hashes of all their key queues. inflight: both. claims_with: those of c.inflight that may hold one of the hashes.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
do $do$
begin
    for k in 0 .. 2 loop
        execute format($text$
create or replace function weir_log.inflight_%1$s(
    p_claims bigint[], p_lane int, out claims bigint[], out keys int[])
language plpgsql stable
as $body$
declare
    o record;
    v_done int8multirange;
    v_seen bigint;
begin
    claims := '{}';
    keys := '{}';
    for o in
        select l.* from unnest(p_claims) u
        cross join lateral (
            select c.claim, c.id, c.ids, c.keys from weir_log.claims_%1$s c
            where c.claim = u and c.kind = 'c' and c.lane = p_lane order by c.claim, c.kind, c.id) l
        where (select true from weir_log.claims_%1$s d -- settled as a whole, as nearly always
               where d.claim = u and d.kind = 'D' and d.ids is null limit 1) is null
    loop
        continue when o.id = v_seen; -- at a turn a row stands in both tables
        v_seen := o.id;
        select range_agg(m) into v_done
        from weir_log.claims_%1$s d
        cross join lateral unnest(
            case when d.kind = 'd' then int8multirange(int8range(d.id, d.id + 1)) else d.ids end) m
        where d.claim = o.claim and d.kind in ('d', 'D', 'x');
        continue when o.ids <@ coalesce(v_done, '{}');
        if o.claim <> all(claims) then
            claims := claims || o.claim;
        end if;
        keys := keys || o.keys;
    end loop;
end
$body$$text$, k);
    end loop;
end
$do$;
create or replace function weir_log.trim_inflight(g weir_internal.groups, c weir_internal.claim)
returns weir_internal.claim
language plpgsql
as $$
declare
    i record;
    v_ring bigint;
begin
    if coalesce(c.inflight, '{}') = '{}' then
        c.inflight := '{}';
        c.keys := '{}';
        return c;
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        case weir_internal.read_claims_table(v_ring)
            when 0 then i := weir_log.inflight_0(c.inflight, c.lane);
            when 1 then i := weir_log.inflight_1(c.inflight, c.lane);
            else i := weir_log.inflight_2(c.inflight, c.lane);
        end case;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    c.inflight := i.claims;
    c.keys := i.keys;
    return c;
end
$$;
create or replace function weir_log.claims_with(c weir_internal.claim, p_hashes int[])
returns bigint[]
language plpgsql
as $$
begin
    return array(
        select distinct u
        from unnest(c.inflight) u
        cross join lateral (
            select k.keys from weir_log.claims_2 k
            where k.claim = u and k.kind = 'c' and k.lane = c.lane) l
        where l.keys && p_hashes);
end
$$;

-- ack_many
-- Template of weir_internal."ack_many:<queue>": the acks of many consumers in one call and one commit. It does those
-- that are plain, and leaves the others, without an error, to calls of their own: what waits for another transaction,
-- what comes too late, and what concerns parked messages of an ordered group.
--
-- Parameters:
--   p_claims    claims; one may occur several times
--   p_ids       null, or for each claim messages of it; null = all of it
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: how many messages were finished; null = not done, ask again by ack, which says why.
-- Raises: WR006, WR012
-- Locks: the claims' advisory locks, tried, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('ack_many', $template$
create or replace function weir_internal."ack_many:{name}"(
    p_claims bigint[], p_ids int8multirange[], p_requests int[])
returns int[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    h record;
    v_ordered smallint[] := array(select no from weir_internal.groups where queue_no = {no} and ordered);
    v_left int8multirange[];
    v_refused int[];          -- requests
    v_out int[];
    v_claims bigint[] := '{}'; -- the claims to write about
    v_ended int8multirange[] := '{}';
    v_rest int8multirange[] := '{}';
    v_counts int[] := '{}';
    v_take int8multirange;
    v_at int;
    v_locked boolean;
    v_now timestamptz;
    v_ring bigint;
    v_table int;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    perform weir_internal.check_many('ack', p_claims, cardinality(p_ids), p_requests);
    v_out := array_fill(null::int, array[cardinality(p_claims)]);
    if p_ids is null then -- what nearly every call is: whole claims that nothing was recorded about
        select bool_and(pg_try_advisory_xact_lock(weir_internal.claim_lock({no}, u))) into v_locked
        from unnest(p_claims) u;
        v_now := weir_internal.clock();
        while v_locked loop
            v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
            v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
            --{ 3
            {if} v_table = {k} then
                select array_agg(c.n), array_agg(u.claim) into v_counts, v_claims
                from unnest(p_claims) u (claim)
                cross join lateral (
                    select n from weir_internal.{q}_claims_{k}
                    where slot = (u.claim & 16383)::smallint and what = 0 and id = u.claim and deadline > v_now
                        and n > 0 limit 1
                ) c
                where ((u.claim & 16383) / ({lanes} + 1) <> all(v_ordered)
                        or (u.claim & 16383) % ({lanes} + 1) < {lanes} -- and it does not stand in lines
                        and (select true from weir_internal.{q}_claims_{k}
                             where slot = (u.claim & 16383)::smallint and what = 1 and id = u.claim limit 1) is null)
                    and (select true from weir_internal.{q}_claims_{k}
                         where slot = (u.claim & 16383)::smallint and what = 2 and id = u.claim limit 1) is null;
            --}
            end if;
            exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
        end loop;
        if v_claims = p_claims and cardinality(p_claims) = (select count(distinct u) from unnest(p_claims) u) then
            v_out := v_counts;
        else
            v_claims := '{}';
            v_counts := '{}';
        end if;
    end if;
    if cardinality(v_claims) = 0 then
        select * into h from weir_internal.{q}_held(p_claims);
        v_left := h.held;
        for i in 1 .. cardinality(p_claims) loop
            if not p_ids[i] <@ v_left[i] and not isempty(p_ids[i]) -- done in part, or not of this claim
                or (p_claims[i] & 16383) / ({lanes} + 1) = any(v_ordered)
                and (p_ids[i] is not null or h.touched[i] or (p_claims[i] & 16383) % ({lanes} + 1) = {lanes}) then
                v_left[i] := null;
            end if;
            if v_left[i] is null and p_requests is not null then
                v_refused := v_refused || p_requests[i];
            end if;
        end loop;
        for i in 1 .. cardinality(p_claims) loop
            continue when v_left[i] is null or p_requests[i] = any(v_refused);
            v_at := array_position(v_claims, p_claims[i]);
            if v_at is null then
                v_claims := v_claims || p_claims[i];
                v_at := cardinality(v_claims);
                v_rest[v_at] := v_left[i];
                v_ended[v_at] := '{}';
                v_counts[v_at] := 0;
            end if;
            if p_ids[i] is null and v_counts[v_at] = 0 then
                v_take := v_rest[v_at];
                v_out[i] := h.n[i];
            else
                v_take := coalesce(p_ids[i], v_rest[v_at]) * v_rest[v_at];
                v_out[i] := weir_internal.count_ids(v_take);
            end if;
            v_rest[v_at] := v_rest[v_at] - v_take;
            v_ended[v_at] := v_ended[v_at] + v_take;
            v_counts[v_at] := v_counts[v_at] + v_out[i];
        end loop;
    end if;
    while 0 < any(v_counts) loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k} (slot, what, id, n, ids, finished)
            select u.claim & 16383, 2, u.claim, u.n, case when not isempty(u.rest) then u.ended end, true
            from unnest(v_claims, v_counts, v_rest, v_ended) u (claim, n, rest, ended)
            where u.n > 0 and (select pg_sequence_last_value('weir_internal.{q}_claims_ring')) = v_ring;
        --}
        end if;
        exit when found;
    end loop;
    --{ {throttled}
    if pg_sequence_last_value('weir_internal.{q}_held') = 1 then
        perform weir_internal.{q}_free((u & 16383)::smallint) from unnest(v_claims) u;
    end if;
    --}
    return v_out;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

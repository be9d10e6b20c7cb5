-- weir_log.extend_many(p_queue, p_claims, p_leases, p_requests)
-- The extends of many consumers in one call and one commit; as settle_many, it does what is plain.
--
-- Parameters:
--   p_queue     name of the queue
--   p_claims    claims; one may occur several times
--   p_leases    for each claim, its new time from now, 1 ms to 7 days
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: its deadline; null = not done, ask again by extend, which says why.
-- Raises: WR001, WR006, WR012, WR019
-- Locks: the claims' advisory locks, tried, until the transaction ends; ROW EXCLUSIVE on the claim log.
create or replace function weir_log.extend_many(
    p_queue text, p_claims bigint[], p_leases interval[], p_requests int[])
returns timestamptz[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    d weir_internal.claim;
    s record;
    v_now timestamptz := weir_internal.clock();
    v_out timestamptz[];
    v_refused int[]; -- requests
begin
    perform weir_internal.check_many(
        'extend', p_claims, null, case when array_ndims(p_leases) = 1 then cardinality(p_leases) end, p_requests);
    v_out := array_fill(null::timestamptz, array[cardinality(p_claims)]);
    for i in 1 .. cardinality(p_claims) loop
        if p_leases[i] between interval '1 millisecond' and interval '7 days'
            and pg_try_advisory_xact_lock(weir_internal.claim_lock(p_claims[i])) then
            s := weir_log.claim_state(p_claims[i]);
            if (s.parts[1]).queue_no = q.no and s.deadline > v_now and not s.ids <@ s.done + s.taken
                and exists (select from weir_internal.groups where no = (s.parts[1]).group_no) then
                v_out[i] := greatest(s.deadline, v_now + p_leases[i]);
            end if;
        end if;
    end loop;
    v_refused := array(select u.request from unnest(v_out, p_requests) u (ends, request) where u.ends is null);
    d.kind := 'e';
    for i in 1 .. cardinality(p_claims) loop
        if p_requests[i] = any(v_refused) then
            v_out[i] := null;
        elsif v_out[i] is not null then
            d.claim := p_claims[i];
            d.deadline := v_out[i];
            perform weir_log.append_claim(d);
        end if;
    end loop;
    return v_out;
end
$$;

-- weir_log.settle_many(p_queue, p_verbs, p_claims, p_ids, p_delays, p_reasons, p_requests)
-- What many consumers settle, in one call and one commit. It does what is plain, in the order in which it is asked for,
-- and leaves the rest, without an error, to calls of their own. Once something of a claim is left, all that follows of
-- it is: an ordered group's release takes along what is not acked yet.
--
-- Parameters:
--   p_queue     name of the queue
--   p_verbs     for each claim 'ack', 'nack', 'release', 'snooze' or 'reject'
--   p_claims    claims; one may occur several times
--   p_ids       for each claim messages of it; '{(,)}' = all that are left
--   p_delays    null, or for each claim the wait before the next delivery; nack: null = the group's backoff
--   p_reasons   null, or for each claim what is kept with a dead letter
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: how many messages were settled; null = not done, ask again by the verb itself.
-- Raises: WR001, WR006, WR010 when a group is dropped at this moment, WR012, WR016, WR019
-- Locks: as weir_log.settle_part, claim by claim.
create or replace function weir_log.settle_many(
    p_queue text, p_verbs text[], p_claims bigint[], p_ids int8multirange[], p_delays interval[], p_reasons text[],
    p_requests int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    v_verb text := case when 'ack' = all(p_verbs) then 'ack' else 'settling' end;
    v_out int[];
    v_left bigint[] := '{}'; -- claims
    v_places int[];
    i int;
begin
    perform weir_internal.check_many(v_verb, p_claims, p_ids, cardinality(p_verbs), p_requests);
    if cardinality(p_delays) <> cardinality(p_claims) or cardinality(p_reasons) <> cardinality(p_claims)
        or (p_verbs <@ array['ack', 'nack', 'release', 'snooze', 'reject']) is not true
        or 1 < any(array[array_ndims(p_verbs), array_ndims(p_delays), array_ndims(p_reasons)]) then
        raise exception '% verbs, % delays and % reasons for % claims', cardinality(p_verbs),
            coalesce(cardinality(p_delays)::text, 'no'), coalesce(cardinality(p_reasons)::text, 'no'),
            cardinality(p_claims)
            using errcode = 'WR006', hint = 'Give nack, release, snooze or reject for each claim, and as many of the '
                'others, or none.';
    end if;
    v_out := array_fill(null::int, array[cardinality(p_claims)]);
    for v_places in
        select array_agg(u order by u) from generate_series(1, cardinality(p_claims)) u
        group by coalesce(p_requests[u], u) order by min(u)
    loop
        continue when v_left <> '{}'
            and exists (select from unnest(v_places) u where p_claims[u] = any(v_left));
        if cardinality(v_places) = 1 then
            i := v_places[1];
            v_out[i] := weir_log.settle_part(q, p_verbs[i], p_claims[i], p_ids[i], p_delays[i], p_reasons[i]);
        else
            begin
                foreach i in array v_places loop
                    v_out[i] := weir_log.settle_part(q, p_verbs[i], p_claims[i], p_ids[i], p_delays[i], p_reasons[i]);
                    if v_out[i] is null then
                        raise exception 'part % is not plain', i using errcode = 'raise_exception';
                    end if;
                end loop;
            exception
                when raise_exception then
                    foreach i in array v_places loop
                        v_out[i] := null;
                    end loop;
            end;
        end if;
        if v_out[i] is null then
            v_left := v_left || array(select p_claims[u] from unnest(v_places) u);
        end if;
    end loop;
    return v_out;
end
$$;

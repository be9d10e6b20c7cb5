-- weir_log.receive_many(p_queue, p_group, p_maxes, p_leases)
-- Many receives of one group in one call, for a server with many consumers waiting. It receives once, as much as all of
-- them want, and gives each consumer its share under a claim of its own: so each has its own lease, and may ack, nack
-- or extend without regard to the others. In an ordered group each request receives for itself.
--
-- Parameters:
--   p_queue   name of the queue
--   p_group   name of the group
--   p_maxes   messages for each request, 1 or more; 10,000 together
--   p_leases  each request's lease
-- Returns: records; of each, the first counts[1] messages are for the request number requests[1], under the claim
--   claim_ids[1], and so on. The record's own claim_id is of no use.
-- Raises: WR001, WR003, WR006, WR012, WR019
-- Locks: as weir_log.receive.
create or replace function weir_log.receive_many(p_queue text, p_group text, p_maxes int[], p_leases interval[])
returns table (messages weir.message_record, requests int[], claim_ids bigint[], counts int[])
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    g weir_internal.groups;
    v_records weir.message_record[];
    v_sum bigint;
    v_longest interval;
    v_bounds int[];        -- request i gets the messages v_bounds[i] .. v_bounds[i + 1] - 1, the first is number 0
    v_ids bigint[] := '{}'; -- all that was received, in order
    v_claims bigint[];     -- one a request that gets something
    v_claim bigint;
    v_at int := 0;         -- number of the record's first message
begin
    select sum(m), max(l) into v_sum, v_longest from unnest(p_maxes, p_leases) u (m, l);
    if v_sum is null or v_sum > 10000 or cardinality(p_maxes) <> cardinality(p_leases)
        or array_lower(p_maxes, 1) <> 1 or array_lower(p_leases, 1) <> 1
        or array_position(p_leases, null) is not null or array_position(p_maxes, null) is not null
        or not 1 <= all(p_maxes)
        or not interval '1 millisecond' <= all(p_leases) then
        raise exception 'receives of % messages for %', p_maxes, p_leases
            using errcode = 'WR006', hint = 'Give as many leases as numbers, each a millisecond or more and 1 or more, '
                'and ask for up to 10,000 messages in all.';
    end if;
    select w.* into g from weir_internal.groups w join weir_internal.queues q on q.no = w.queue_no
    where q.name = p_queue and w.name = p_group;
    if cardinality(p_maxes) = 1 or g.ordered then
        for i in 1 .. cardinality(p_maxes) loop
            v_records := weir_log.receive(p_queue, p_group, p_maxes[i], p_leases[i]);
            exit when cardinality(v_records) = 0;
            foreach messages in array v_records loop
                requests := array[i];
                claim_ids := array[messages.claim_id];
                counts := array[messages.n];
                return next;
            end loop;
        end loop;
        return;
    end if;
    v_records := weir_log.receive(p_queue, p_group, v_sum::int, v_longest);
    if cardinality(v_records) = 0 then
        return;
    end if;
    v_claim := (v_records[1]).claim_id;
    v_bounds := 0 || array(select sum(m) over (rows unbounded preceding) from unnest(p_maxes) m)::int[];
    foreach messages in array v_records loop
        v_ids := v_ids || coalesce(messages.ids,
            array(select messages.first_id + i from generate_series(0, messages.n - 1) i));
    end loop;
    v_claims := array[v_claim];
    if cardinality(v_ids) > v_bounds[2] or p_leases[1] < v_longest then
        v_claims := weir_log.divide_claim(g, v_claim, array(
            select (select range_agg(int8range(m, m + 1)) from unnest(v_ids[v_bounds[r] + 1 : v_bounds[r + 1]]) m)
            from generate_series(1, width_bucket(cardinality(v_ids) - 1, v_bounds)) r), p_leases);
        if v_claim = any(weir_log.inflight_of(g)) then
            perform weir_log.write_inflight(g, array_remove(weir_log.inflight_of(g), v_claim) || v_claims);
        end if;
    end if;
    foreach messages in array v_records loop
        select array_agg(r), array_agg(v_claims[r]),
            array_agg(least(v_bounds[r + 1] - v_at, messages.n) - greatest(v_bounds[r] - v_at, 0))
        into requests, claim_ids, counts
        from generate_series(width_bucket(v_at, v_bounds), width_bucket(v_at + messages.n - 1, v_bounds)) r;
        v_at := v_at + messages.n;
        return next;
    end loop;
end
$$;

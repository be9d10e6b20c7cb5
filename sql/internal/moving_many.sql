-- weir_internal.moving_ack_many(p_queue, p_claims, p_ids, p_requests), moving_settle_many(...), moving_extend_many(...)
-- What the functions of a log of the same names do, on a queue that is moving: for each claim in the log in which it
-- is. What cannot be done by one call is left, as they leave it: a request with claims of both logs.
--
-- Parameters: as weir_log.ack_many, weir_log.settle_many and weir_log.extend_many
-- Returns: as those.
-- Raises: as those.
-- Locks: as those.
create or replace function weir_internal.moving_ack_many(
    p_queue text, p_claims bigint[], p_ids int8multirange[], p_requests int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_internal.moving_settle_many(
        p_queue, array_fill('ack'::text, array[coalesce(cardinality(p_claims), 0)]), p_claims, p_ids, null, null,
        p_requests);
end
$$;
create or replace function weir_internal.moving_settle_many(
    p_queue text, p_verbs text[], p_claims bigint[], p_ids int8multirange[], p_delays interval[], p_reasons text[],
    p_requests int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_logs text[] := weir_internal.logs_of_claims(p_queue, p_claims, p_requests);
    v_log text;
    v_places int[];
    v_step int[];
    v_out int[] := array_fill(null::int, array[coalesce(cardinality(p_claims), 0)]);
begin
    if cardinality(v_logs) is distinct from cardinality(p_ids) or cardinality(v_logs) <> cardinality(p_verbs) then
        v_logs := array_fill(v_logs[1], array[cardinality(v_logs)]); -- one log says what is wrong
    end if;
    for v_log, v_places in
        select l, array_agg(i::int order by i) from unnest(v_logs) with ordinality u (l, i)
        where l is not null group by l
    loop
        execute format('select %s.settle_many($1, $2, $3, $4, $5, $6, $7)', v_log)
        into v_step using p_queue, array(select p_verbs[i] from unnest(v_places) i),
            array(select p_claims[i] from unnest(v_places) i), array(select p_ids[i] from unnest(v_places) i),
            case when p_delays is not null then array(select p_delays[i] from unnest(v_places) i) end,
            case when p_reasons is not null then array(select p_reasons[i] from unnest(v_places) i) end,
            case when p_requests is not null then array(select p_requests[i] from unnest(v_places) i) end;
        for i in 1 .. cardinality(v_places) loop
            v_out[v_places[i]] := v_step[i];
        end loop;
    end loop;
    return v_out;
end
$$;
create or replace function weir_internal.moving_extend_many(
    p_queue text, p_claims bigint[], p_leases interval[], p_requests int[])
returns timestamptz[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_log text;
    v_places int[];
    v_step timestamptz[];
    v_out timestamptz[] := array_fill(null::timestamptz, array[coalesce(cardinality(p_claims), 0)]);
begin
    for v_log, v_places in
        select l, array_agg(i::int order by i)
        from unnest(weir_internal.logs_of_claims(p_queue, p_claims, p_requests)) with ordinality u (l, i)
        where l is not null group by l
    loop
        execute format('select %s.extend_many($1, $2, $3, $4)', v_log)
        into v_step using p_queue, array(select p_claims[i] from unnest(v_places) i),
            array(select p_leases[i] from unnest(v_places) i),
            case when p_requests is not null then array(select p_requests[i] from unnest(v_places) i) end;
        for i in 1 .. cardinality(v_places) loop
            v_out[v_places[i]] := v_step[i];
        end loop;
    end loop;
    return v_out;
end
$$;
-- weir_internal.logs_of_claims(p_queue, p_claims, p_requests)
-- In which of its two logs the claims of a queue that is moving are.
--
-- Parameters:
--   p_queue     name of the queue
--   p_claims    claims
--   p_requests  null, or for each claim the request that it belongs to
-- Returns: one element a claim: the schema of its log; null where the request has claims of both.
-- Raises: WR001, WR006, WR019
-- Locks: ACCESS SHARE on the claim logs.
create or replace function weir_internal.logs_of_claims(p_queue text, p_claims bigint[], p_requests int[])
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_logs text[];
    v_mixed int[];
begin
    perform weir_internal.check_many('extend', p_claims, null, cardinality(p_claims), p_requests);
    v_logs := array(select weir_internal.log_of_claim(p_queue, c)
                    from unnest(p_claims) with ordinality u (c, i) order by u.i);
    v_mixed := array(select u.request from unnest(v_logs, p_requests) u (log, request)
                     where u.request is not null group by u.request having min(u.log) <> max(u.log));
    return array(select case when u.request = any(v_mixed) then null else u.log end
                 from unnest(v_logs, p_requests) with ordinality u (log, request, i) order by u.i);
end
$$;

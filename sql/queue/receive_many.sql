-- receive_many
-- Template of weir_internal."receive_many:<queue>": many receives of one group in one call, for a server with many
-- consumers waiting. It receives once, as much as all of them want, and gives each consumer its share under claims of
-- its own: so each has its own lease, and may ack, nack or extend without regard to the others. An ordered group's
-- lane is for one consumer at a time, so there each request receives for itself. EXECUTE on it is part of the right to
-- consume.
--
-- Parameters:
--   p_group   name of the group
--   p_maxes   messages for each request, 1 or more; 10,000 together
--   p_leases  each request's lease
-- Returns: records; of each, the first counts[1] messages are for the request number requests[1], under the claim
--   claim_ids[1], and so on. The record's own claim_id is of no use.
-- Raises: WR003, WR006, WR012
-- Locks: as receive.
insert into weir_internal.templates (name, body) values ('receive_many', $template$
create or replace function weir_internal."receive_many:{name}"(p_group text, p_maxes int[], p_leases interval[])
returns table (messages weir.message_record, requests int[], claim_ids bigint[], counts int[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    v_records weir.message_record[];
    v_sum bigint;
    v_longest interval;
    v_bounds int[];          -- request i gets the messages v_bounds[i] .. v_bounds[i + 1] - 1, the first is number 0
    v_at int := 0;           -- number of the record's first message
    v_end int := 0;          -- of the first message after the claim
    v_first int := 1;        -- the records v_first .. v_next - 1 are of one claim
    v_next int;
    v_claim bigint;
    v_from int;              -- the claim is for the requests v_from .. v_to
    v_to int;
    v_parts bigint[];        -- a claim for each of them; null: one request has all of it
    v_ids int8multirange[];  -- what the parts hold
    v_counts int[];          -- how many that are
    v_spans int8multirange[]; -- what they hold of one record
    v_divided bigint[];      -- all parts of all claims
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    select sum(m), max(l) into v_sum, v_longest from unnest(p_maxes, p_leases) u (m, l);
    if v_sum is null or v_sum > 10000 or cardinality(p_maxes) <> cardinality(p_leases)
        or array_lower(p_maxes, 1) <> 1 or array_lower(p_leases, 1) <> 1
        or array_position(p_leases, null) is not null or not 1 <= all(p_maxes)
        or not interval '1 millisecond' <= all(p_leases) then
        raise exception 'receives of % messages for %', p_maxes, p_leases
            using errcode = 'WR006', hint = 'Give as many leases as numbers, each a millisecond or more and 1 or more, '
                'and ask for up to 10,000 messages in all.';
    end if;
    if cardinality(p_maxes) = 1 or exists (
        select from weir_internal.groups g where g.queue_no = {no} and g.name = p_group and g.ordered) then
        for i in 1 .. cardinality(p_maxes) loop
            v_records := weir_internal."receive:{name}"(p_group, p_maxes[i], p_leases[i]);
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
    v_records := weir_internal."receive:{name}"(p_group, v_sum::int, v_longest);
    v_bounds := 0 || array(select sum(m) over (rows unbounded preceding) from unnest(p_maxes) m)::int[];
    while v_first <= cardinality(v_records) loop
        v_claim := (v_records[v_first]).claim_id;
        v_next := v_first;
        while v_next <= cardinality(v_records) and (v_records[v_next]).claim_id = v_claim loop
            v_end := v_end + (v_records[v_next]).n;
            v_next := v_next + 1;
        end loop;
        v_from := width_bucket(v_at, v_bounds);
        v_to := width_bucket(v_end - 1, v_bounds);
        v_parts := null;
        v_ids := '{}';
        v_counts := '{}';
        if v_from < v_to or p_leases[v_from] < v_longest then
            v_parts := array(select nextval('weir_internal.{q}_claim_ids') * 16384 + (v_claim & 16383)
                             from generate_series(v_from, v_to));
        end if;
        for i in v_first .. v_next - 1 loop
            messages := v_records[i];
            select array_agg(r), array_agg(coalesce(v_parts[r - v_from + 1], v_claim)), array_agg(e - b),
                array_agg(case when v_parts is null then null
                               when messages.ids is null
                               then int8multirange(int8range(messages.first_id + b, messages.first_id + e))
                               else (select range_agg(int8range(m, m + 1)) from unnest(messages.ids[b + 1 : e]) m) end)
            into requests, claim_ids, counts, v_spans
            from generate_series(width_bucket(v_at, v_bounds), width_bucket(v_at + messages.n - 1, v_bounds)) r
            cross join lateral (
                select greatest(v_bounds[r] - v_at, 0) as b, least(v_bounds[r + 1] - v_at, messages.n) as e
            ) s;
            if v_from + cardinality(v_ids) > requests[1] then -- that part began in the record before
                v_ids[cardinality(v_ids)] := v_ids[cardinality(v_ids)] + v_spans[1];
                v_counts[cardinality(v_ids)] := v_counts[cardinality(v_ids)] + counts[1];
                v_ids := v_ids || v_spans[2 :];
                v_counts := v_counts || counts[2 :];
            else
                v_ids := v_ids || v_spans;
                v_counts := v_counts || counts;
            end if;
            v_at := v_at + messages.n;
            return next;
        end loop;
        if v_parts is not null then
            perform weir_internal.{q}_divide(v_claim, v_parts, v_ids, v_counts, p_leases[v_from : v_to]);
            v_divided := v_divided || v_parts;
        end if;
        v_first := v_next;
    end loop;
    if v_divided is not null and exists (
        select from weir_internal.groups g
        where g.queue_no = {no} and g.name = p_group
            and coalesce(g.concurrency_max, g.key_concurrency_max) is not null) then
        perform weir_internal.{q}_count_parts(((v_claim & 16383) / ({lanes} + 1))::smallint, v_divided);
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- append_batch
-- Template of weir_internal.<q>_append_batch: splits a batch by lane and appends as few records as that allows. A
-- record is kept under about 128 KiB and 1,000 messages, so that a claim of a few of them stays cheap. Messages without
-- a key go to one lane; a batch of only those is cut, which takes far less than sorting its payloads by lane.
--
-- Parameters:
--   p_ids       rising, one a message
--   p_payloads  one a message
--   p_keys      null, or one a message
--   p_headers   null, or one a message
--   p_priority  of all of them
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
insert into weir_internal.templates (name, body) values ('append_batch', $template$
create or replace function weir_internal.{q}_append_batch(
    p_ids bigint[], p_payloads jsonb[], p_keys text[], p_headers jsonb[], p_priority int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $body$
declare
    v_count int := cardinality(p_ids);
    v_any int := p_priority * {level_lanes} + weir_internal.spread(p_ids[v_count], {level_lanes});
    v_chunk int := greatest(1, least(1000, 131072::bigint * v_count / pg_column_size(p_payloads)));
    v_now timestamptz := weir_internal.clock();
    v_from int := 1;
    v_to int;
    v_chunks int[]; -- of each message the part of its lane's that it belongs to; null when no lane can need two
    v_ring bigint;
begin
    while p_keys is null and v_from <= v_count loop
        v_to := least(v_from + v_chunk - 1, v_count);
        v_ring := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} v_ring % 3 = {k} then
            insert into weir_internal.{q}_log_{k} (id, n, ids, lane, enqueued_at, headers, payloads)
            select p_ids[v_to], v_to - v_from + 1,
                case when p_ids[v_to] - p_ids[v_from] > v_to - v_from then p_ids[v_from:v_to] end,
                v_any, v_now,
                case when p_headers is not null then
                    array(select p_headers[i] from generate_series(v_from, v_to) i) end,
                array(select p_payloads[i] from generate_series(v_from, v_to) i) -- [a:b] would copy all of them first
            where pg_sequence_last_value('weir_internal.{q}_log_ring') = v_ring;
        --}
        end if;
        if found then
            v_from := v_to + 1;
            if pg_sequence_last_value('weir_internal.{q}_waiting') = 1 then
                perform weir_internal.{q}_wake();
            end if;
        end if;
    end loop;
    if p_keys is null or v_count = 0 then
        return;
    end if;
    if v_count > v_chunk then
        v_chunks := array(
            select (row_number() over (partition by m.lane order by m.i) - 1) / v_chunk
            from (select u.i, coalesce(weir_internal.lane_of(u.key, {level_lanes}), v_any) as lane
                  from unnest(p_keys) with ordinality u (key, i)) m
            order by m.i);
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} v_ring % 3 = {k} then
            insert into weir_internal.{q}_log_{k} (id, n, ids, lane, enqueued_at, keys, headers, payloads)
            select p_ids[max(m.i)], count(*),
                case when p_ids[max(m.i)] - p_ids[min(m.i)] >= count(*) then array_agg(p_ids[m.i] order by m.i) end,
                m.lane, v_now,
                case when count(p_keys[m.i]) > 0 then array_agg(p_keys[m.i] order by m.i) end,
                case when count(p_headers[m.i]) > 0 then array_agg(p_headers[m.i] order by m.i) end,
                array_agg(p_payloads[m.i] order by m.i)
            from (select u.i::int as i, coalesce(weir_internal.lane_of(u.key, {level_lanes}), v_any) as lane
                  from unnest(p_keys) with ordinality u (key, i)) m
            where (select pg_sequence_last_value('weir_internal.{q}_log_ring')) = v_ring -- once: all of them or none
            group by m.lane, v_chunks[m.i];
        --}
        end if;
        if found then
            if pg_sequence_last_value('weir_internal.{q}_waiting') = 1 then
                perform weir_internal.{q}_wake();
            end if;
            return;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

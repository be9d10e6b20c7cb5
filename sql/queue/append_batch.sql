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
    r weir_internal.log_record;
    v_count int := cardinality(p_ids);
    v_any int := p_priority * {level_lanes} + weir_internal.spread(p_ids[v_count], {level_lanes});
    v_chunk int := greatest(1, least(1000, 131072::bigint * v_count / pg_column_size(p_payloads)));
    v_now timestamptz := weir_internal.clock();
    v_from int := 1;
    v_to int;
    v_ring bigint;
    v_seg bigint;
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
    if p_keys is null then
        return;
    end if;
    r.enqueued_at := v_now;
    for r.lane, r.n, r.id, r.ids, r.keys, r.headers, r.payloads in
        select m.lane, count(*), max(m.id),
            case when max(m.id) - min(m.id) >= count(*) then array_agg(m.id order by m.id) end,
            case when count(m.key) > 0 then array_agg(m.key order by m.id) end,
            case when count(m.headers) > 0 then array_agg(m.headers order by m.id) end,
            array_agg(m.payload order by m.id)
        from (
            select l.*, (row_number() over (partition by l.lane order by l.id) - 1) / v_chunk as chunk
            from (
                select u.id, u.payload, u.key, u.headers,
                    case when u.key is null then v_any else weir_internal.lane_of(u.key, {level_lanes}) end as lane
                from unnest(p_ids, p_payloads, p_keys, p_headers) as u (id, payload, key, headers)
            ) l
        ) m
        group by m.lane, m.chunk
        order by m.lane, m.chunk
    loop
        v_seg := weir_internal.{q}_append(r);
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- send_batch
-- Template of weir_internal."send_batch:<queue>": appends many messages. A batch without keys is one record, which is
-- where the speed comes from, so that case is written out here; the others go through <q>_append_batch.
--
-- Parameters:
--   p_payloads  one a message, none null
--   p_keys      null, or one a message (null elements allowed)
--   p_headers   null, or one a message (null elements allowed)
--   p_delay     null or 0 = at once
--   p_priority  of all of them; null = 0
-- Returns: the ids, in the order of the payloads, rising.
-- Raises: WR006, WR007, WR008, WR012, WR020
-- Locks: ROW EXCLUSIVE on the open segment (or on `later`), until the transaction ends.
insert into weir_internal.templates (name, body) values ('send_batch', $template$
create or replace function weir_internal."send_batch:{name}"(
    p_payloads jsonb[], p_keys text[], p_headers jsonb[], p_delay interval, p_priority int)
returns bigint[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_count int := cardinality(p_payloads);
    v_ids bigint[];
    v_ring bigint;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if p_keys is not null or p_headers is not null or v_count is null or array_ndims(p_payloads) > 1
        or array_lower(p_payloads, 1) <> 1 or pg_column_size(p_payloads) > {message_bytes_max}
        or array_position(p_payloads, null) is not null then
        perform weir_internal.check_batch('{name}', {message_bytes_max}, p_payloads, p_keys, p_headers);
    end if;
    if p_priority is not null then
        perform weir_internal.check_priority('{name}', {priorities}, p_priority, p_keys is not null);
    end if;
    v_ids := array(select nextval('weir_internal.{q}_ids') from (select generate_series(1, v_count)) i);
    --{ {limited}
    if v_ids[v_count] > pg_sequence_last_value('weir_internal.{q}_backlog_end') then
        perform weir_internal.admit({no}, v_count);
    end if;
    --}
    if p_delay <> interval '0' then
        return array(
            select weir_internal.{q}_delay(u.id, u.payload, u.key, u.headers, p_delay)
            from unnest(v_ids, p_payloads, p_keys, p_headers) as u (id, payload, key, headers));
    end if;
    if p_keys is not null or v_count not between 1 and 1000 or pg_column_size(p_payloads) > 131072 then
        perform weir_internal.{q}_append_batch(v_ids, p_payloads, p_keys, p_headers, coalesce(p_priority, 0));
        return v_ids;
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} v_ring % 3 = {k} then
            insert into weir_internal.{q}_log_{k} (id, n, ids, lane, enqueued_at, headers, payloads)
            select v_ids[v_count], v_count,
                case when v_ids[v_count] - v_ids[1] >= v_count then v_ids end, -- another sender took ids in between
                coalesce(p_priority, 0) * {level_lanes} + weir_internal.spread(v_ids[v_count], {level_lanes}),
                weir_internal.clock(), p_headers, p_payloads
            where pg_sequence_last_value('weir_internal.{q}_log_ring') = v_ring;
        --}
        end if;
        if found then
            if pg_sequence_last_value('weir_internal.{q}_waiting') = 1 then
                perform weir_internal.{q}_wake();
            end if;
            return v_ids;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

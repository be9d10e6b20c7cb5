-- send
-- Template of weir_internal."send:<queue>": appends one message to the queue's open segment. EXECUTE on it is the right
-- to produce. The segment is chosen by a sequence because every transaction, of whatever isolation, must see a rotation
-- at once; the INSERT looks at it again under its table lock, so no row can reach a segment that rotation has found
-- without writers.
--
-- Parameters:
--   p_payload   jsonb, not null
--   p_key       decides the lane; null = any lane
--   p_headers   a jsonb object or null
--   p_delay     null or 0 = at once
--   p_priority  null = 0
-- Returns: the message's id.
-- Raises: WR006, WR007, WR008, WR012, WR020
-- Locks: ROW EXCLUSIVE on the open segment (or on `later`), until the transaction ends.
insert into weir_internal.templates (name, body) values ('send', $template$
create or replace function weir_internal."send:{name}"(
    p_payload jsonb, p_key text, p_headers jsonb, p_delay interval, p_priority int)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint;
    v_id bigint;
    v_lane int;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if p_payload is null or p_headers is not null or p_key is not null
        or pg_column_size(p_payload) > {message_bytes_max} then
        perform weir_internal.check_message('{name}', {message_bytes_max}, p_payload, p_key, p_headers);
    end if;
    if p_priority is not null then
        perform weir_internal.check_priority('{name}', {priorities}, p_priority, p_key is not null);
    end if;
    v_id := nextval('weir_internal.{q}_ids');
    --{ {limited}
    if v_id > pg_sequence_last_value('weir_internal.{q}_backlog_end') then
        perform weir_internal.admit({no}, 1);
    end if;
    --}
    if p_delay <> interval '0' then
        return weir_internal.{q}_delay(v_id, p_payload, p_key, p_headers, p_delay);
    end if;
    if p_key is null then
        v_lane := coalesce(p_priority, 0) * {level_lanes} + weir_internal.spread(v_id, {level_lanes});
    else
        v_lane := weir_internal.lane_of(p_key, {level_lanes});
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} v_ring % 3 = {k} then
            insert into weir_internal.{q}_log_{k} (id, n, lane, enqueued_at, keys, headers, payloads)
            select v_id, 1, v_lane, weir_internal.clock(),
                case when p_key is not null then array[p_key] end,
                case when p_headers is not null then array[p_headers] end,
                array[p_payload]
            where pg_sequence_last_value('weir_internal.{q}_log_ring') = v_ring;
        --}
        end if;
        if found then
            if pg_sequence_last_value('weir_internal.{q}_waiting') = 1 then
                perform weir_internal.{q}_wake();
            end if;
            return v_id;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

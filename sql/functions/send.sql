-- weir.send(queue_name, payload, key, headers, delay, dedup_key, priority), weir.send(queue_name, body, ...)
-- Sends one message, in the caller's transaction: it is delivered when that commits, and never when it rolls back. A
-- payload given as a literal, as a driver's parameter or as json is kept as it was written; jsonb is kept as it prints.
--
-- PostgreSQL takes an argument of unknown type for text rather than for bpchar. So the first parameter's type decides
-- which of these functions a call means whose payload is an untyped literal or parameter: the one that takes json.
--
-- Parameters:
--   queue_name  the queue
--   payload     any JSON value, not SQL null
--   body        bytes in place of a payload; a header may name their type
--   key         messages of one key go to one lane, in order; at most 1,024 octets
--   headers     a JSON object
--   delay       not delivered before this has passed; at most 10 years
--   dedup_key   of several messages with one key, sent within the queue's dedup window, only the first is sent; at most
--               1,024 octets. See send_once
--   priority    0 .. the queue's priorities - 1, 0 unless given; higher goes first. Not with a key; what was
--               delayed goes before all others when it is due
-- Returns: the message's id; a repeat's is the first one's.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020; with a dedup_key also 40001 and 40P01, as send_once
-- Locks: ROW EXCLUSIVE on the log's open segment, until the transaction ends.
create or replace function weir.send(
    queue_name text,
    payload json,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns bigint
language plpgsql
as $$
declare
    v_id bigint;
begin
    if dedup_key is null and weir_internal.direct(queue_name) then
        return weir_log.send(queue_name, payload, key, headers, delay, priority, null);
    elsif dedup_key is not null then
        select o.id into v_id
        from weir.send_once(queue_name, array[payload], array[dedup_key], case when key is not null then array[key] end,
            case when headers is not null then array[headers] end, delay, priority) o;
        return v_id;
    end if;
    execute 'select ' || weir_internal.call('send', queue_name, '$1, $2, $3, $4, $5, null')
    into v_id using payload, key, headers, delay, priority;
    return v_id;
end
$$;
create or replace function weir.send(
    queue_name bpchar,
    payload jsonb,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns bigint
language sql
as $$
    select weir.send(queue_name::text, payload::json, key, headers, delay, dedup_key, priority)
$$;
create or replace function weir.send(
    queue_name bpchar,
    body bytea,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns bigint
language plpgsql
as $$
declare
    v_queue text := queue_name;
    v_id bigint;
begin
    if dedup_key is null and weir_internal.direct(v_queue) then
        return weir_log.send(v_queue, null, key, headers, delay, priority, body);
    elsif dedup_key is not null then
        select o.id into v_id
        from weir.send_once(v_queue, null, array[dedup_key], case when key is not null then array[key] end,
            case when headers is not null then array[headers] end, delay, priority, array[body]) o;
        return v_id;
    end if;
    execute 'select ' || weir_internal.call('send', v_queue, 'null, $1, $2, $3, $4, $5')
    into v_id using key, headers, delay, priority, body;
    return v_id;
end
$$;

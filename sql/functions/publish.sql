-- weir.publish(topic, payload, key, headers, delay, dedup_key, priority), weir.publish(topic, body, ...)
-- Sends a message to every queue that has a binding for the topic, once to each, in the caller's transaction: to all or
-- to none. With no such queue nothing is sent and no row returned. The caller needs the right to produce to each queue;
-- when one is missing, the error names it. The message carries the topic only if the caller puts it into the headers.
--
-- Parameters:
--   topic    words of A-Z, a-z, 0-9, _ and -, separated by dots
--   payload  any JSON value, not SQL null, kept as weir.send keeps it
--   body     bytes in place of a payload
--   key      messages of one key go to one lane, in order; at most 1,024 octets
--   headers  a JSON object
--   delay    not delivered before this has passed; at most 10 years
--   dedup_key  as weir.send takes it; each queue has a window of its own, and may have had the message when another had
--              not
--   priority   as weir.send takes it; every queue must have it
-- Returns: one row a queue: its name, the id that the message has there, and whether it is `repeated`: the first one's
-- id then.
-- Raises: WR005, WR006, WR007, WR008, WR012, WR020; with a dedup_key also 40001 and 40P01, as send_once
-- Locks: ROW EXCLUSIVE on the open segment of each queue, until the transaction ends.
create or replace function weir.publish(
    topic text,
    payload json,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns table (queue_name text, id bigint, repeated boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    for queue_name in select r from weir.route(topic) r loop
        if dedup_key is null then
            id := weir.send(queue_name, payload, key, headers, delay, null, priority);
            repeated := false;
        else
            select o.id, o.repeated into id, repeated
            from weir.send_once(queue_name, array[payload], array[dedup_key],
                case when key is not null then array[key] end, case when headers is not null then array[headers] end,
                delay, priority) o;
        end if;
        return next;
    end loop;
end
$$;
create or replace function weir.publish(
    topic bpchar,
    payload jsonb,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns table (queue_name text, id bigint, repeated boolean)
language sql
as $$
    select * from weir.publish(topic::text, payload::json, key, headers, delay, dedup_key, priority)
$$;
create or replace function weir.publish(
    topic bpchar,
    body bytea,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    dedup_key text default null,
    priority int default null)
returns table (queue_name text, id bigint, repeated boolean)
language sql
as $$
    select p.queue_name, p.ids[1], p.repeated[1]
    from weir.publish_batch(topic::text, null, case when key is not null then array[key] end,
        case when headers is not null then array[headers] end, delay,
        case when dedup_key is not null then array[dedup_key] end, priority, array[body]) p
$$;

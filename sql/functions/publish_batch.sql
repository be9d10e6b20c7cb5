-- weir.publish_batch(topic, payloads, keys, headers, delay, dedup_keys, priority, bodies)
-- Sends many messages of one topic at once, as weir.publish sends one: all of them to every queue that has a binding
-- for the topic, in the caller's transaction.
--
-- Parameters:
--   topic       words of A-Z, a-z, 0-9, _ and -, separated by dots
--   payloads    JSON values, kept as weir.send keeps them, none SQL null; at most 100,000
--   keys        null, or one a message (null elements allowed)
--   headers     null, or one a message (null elements allowed)
--   delay       for all of them
--   dedup_keys  null, or one a message (null elements allowed), as weir.publish takes them
--   priority    for all of them; every queue must have it
--   bodies      as weir.send_batch takes them
-- Returns: one row a queue: its name; the ids that the messages have there, in the order of the payloads; and which are
-- `repeated`, whose ids are the first ones'.
-- Raises: WR005, WR006, WR007, WR008, WR012, WR020; with dedup_keys also 40001 and 40P01, as send_once
-- Locks: ROW EXCLUSIVE on the open segment of each queue, until the transaction ends.
create or replace function weir.publish_batch(
    topic text,
    payloads json[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    dedup_keys text[] default null,
    priority int default null,
    bodies bytea[] default null)
returns table (queue_name text, ids bigint[], repeated boolean[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    for queue_name in select r from weir.route(topic) r loop
        if dedup_keys is null then
            ids := array(select weir.send_batch(queue_name, payloads, keys, headers, delay, null, priority, bodies));
            repeated := array_fill(false, array[cardinality(ids)]);
        else
            select coalesce(array_agg(o.id order by o.i), '{}'), coalesce(array_agg(o.repeated order by o.i), '{}')
            into ids, repeated
            from weir.send_once(queue_name, payloads, dedup_keys, keys, headers, delay, priority, bodies)
                with ordinality as o (id, repeated, i);
        end if;
        return next;
    end loop;
end
$$;
create or replace function weir.publish_batch(
    topic bpchar,
    payloads jsonb[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    dedup_keys text[] default null,
    priority int default null)
returns table (queue_name text, ids bigint[], repeated boolean[])
language sql
as $$
    select * from weir.publish_batch(topic::text, payloads::json[], keys, headers, delay, dedup_keys, priority)
$$;

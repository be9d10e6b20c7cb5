-- weir.send_batch(queue_name, payloads, keys, headers, delay, dedup_keys, priority, bodies)
-- Sends many messages at once; several times faster than as many sends.
--
-- Parameters:
--   queue_name  the queue
--   payloads    JSON values, kept as weir.send keeps them, none SQL null; at most 100,000
--   keys        null, or one a message (null elements allowed)
--   headers     null, or one a message (null elements allowed)
--   delay       for all of them
--   dedup_keys  null, or one a message (null elements allowed), as send_once takes them
--   priority    0 .. the queue's priorities - 1, 0 unless given; higher goes first. Not with keys; what was
--               delayed goes before all others when it is due
--   bodies      null, or one a message: bytes in place of its payload, which is null then; payloads is null where all
--               have a body
-- Returns: the ids, in the order of the payloads; a repeat's is the first one's.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020; with dedup_keys also 40001 and 40P01, as send_once
-- Locks: ROW EXCLUSIVE on the log's open segment, until the transaction ends.
create or replace function weir.send_batch(
    queue_name text,
    payloads json[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    dedup_keys text[] default null,
    priority int default null,
    bodies bytea[] default null)
returns setof bigint
language plpgsql
as $$
declare
    v_ids bigint[];
begin
    if dedup_keys is not null then
        return query
        select o.id from weir.send_once(queue_name, payloads, dedup_keys, keys, headers, delay, priority, bodies) o;
        return;
    elsif weir_internal.direct(queue_name) then
        v_ids := weir_log.send_batch(queue_name, payloads, keys, headers, delay, priority, bodies);
    else
        execute 'select ' || weir_internal.call('send_batch', queue_name, '$1, $2, $3, $4, $5, $6')
        into v_ids using payloads, keys, headers, delay, priority, bodies;
    end if;
    return query select pg_catalog.unnest(v_ids);
end
$$;
create or replace function weir.send_batch(
    queue_name bpchar,
    payloads jsonb[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    dedup_keys text[] default null,
    priority int default null)
returns setof bigint
language sql
as $$
    select weir.send_batch(queue_name::text, payloads::json[], keys, headers, delay, dedup_keys, priority)
$$;

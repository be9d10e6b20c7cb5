-- weir.send_once(queue_name, payloads, dedup_keys, keys, headers, delay, priority, bodies)
-- Sends those of several messages whose dedup key was not sent within the queue's window, in the caller's transaction.
-- While another transaction that sent one of the keys is open, it waits: when that commits, the message is a repeat;
-- when it rolls back, the message is sent. A key counts from the call that sent it until the window has passed.
-- weir.send and weir.send_batch with dedup keys do the same and return the ids alone.
--
-- Parameters:
--   queue_name  the queue
--   payloads    JSON values, kept as weir.send keeps them, none SQL null; at most 100,000
--   dedup_keys  one a message, at most 1,024 octets; a message whose element is null is always sent
--   keys        null, or one a message (null elements allowed)
--   headers     null, or one a message (null elements allowed)
--   delay       for all of them
--   priority    as send_batch takes it
--   bodies      as send_batch takes them
-- Returns: one row a message, in their order: its id, or the first one's id and `repeated` when it was not sent.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020; 40001 where a fixed snapshot hides a key sent since;
-- 40P01 when two transactions send the same keys in different orders by several calls. Both go away when it is tried
-- again.
-- Locks: ROW EXCLUSIVE on the log's open segment and dedup table, and the keys, until the transaction ends.
create or replace function weir.send_once(
    queue_name text,
    payloads json[],
    dedup_keys text[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    priority int default null,
    bodies bytea[] default null)
returns table (id bigint, repeated boolean)
language plpgsql
as $$
declare
    v_ids bigint[];
    v_repeated boolean[];
begin
    if weir_internal.direct(queue_name) then
        select * into v_ids, v_repeated
        from weir_log.send_once(queue_name, payloads, dedup_keys, keys, headers, delay, priority, bodies);
    else
        execute 'select * from ' || weir_internal.call('send_once', queue_name, '$1, $2, $3, $4, $5, $6, $7')
        into v_ids, v_repeated using payloads, dedup_keys, keys, headers, delay, priority, bodies;
    end if;
    return query select * from unnest(v_ids, v_repeated); -- with several arguments it is always PostgreSQL's own
end
$$;
create or replace function weir.send_once(
    queue_name bpchar,
    payloads jsonb[],
    dedup_keys text[],
    keys text[] default null,
    headers jsonb[] default null,
    delay interval default null,
    priority int default null)
returns table (id bigint, repeated boolean)
language sql
as $$
    select * from weir.send_once(queue_name::text, payloads::json[], dedup_keys, keys, headers, delay, priority)
$$;

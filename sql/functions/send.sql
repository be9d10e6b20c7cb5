-- weir.send(queue_name, payload, key, headers, delay, priority)
-- Sends one message, in the caller's transaction: it is delivered when that commits, and never when it rolls back.
--
-- Parameters:
--   queue_name  the queue
--   payload     any JSON value, not SQL null
--   key         messages of one key go to one lane, in order; at most 1,024 octets
--   headers     a JSON object
--   delay       not delivered before this has passed; at most 10 years
--   priority    0 .. the queue's priorities - 1, 0 unless given; higher goes first. Not with a key; what was
--               delayed goes before all others when it is due
-- Returns: the message's id.
-- Raises: WR001, WR006, WR007, WR008
-- Locks: ROW EXCLUSIVE on the queue's open segment, until the transaction ends.
create or replace function weir.send(
    queue_name text,
    payload jsonb,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    priority int default null)
returns bigint
language plpgsql
as $$
declare
    v_id bigint;
begin
    execute 'select ' || weir_internal.queue_function('send', queue_name) || '($1, $2, $3, $4, $5)'
    into v_id using payload, key, headers, delay, priority;
    return v_id;
end
$$;

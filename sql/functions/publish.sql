-- weir.publish(topic, payload, key, headers, delay)
-- Sends a message to every queue that has a binding for the topic, once to each, in the caller's transaction: to all or
-- to none. With no such queue nothing is sent and no row returned. The caller needs the right to produce to each queue;
-- when one is missing, the error names it. The message carries the topic only if the caller puts it into the headers.
--
-- Parameters:
--   topic    words of A-Z, a-z, 0-9, _ and -, separated by dots
--   payload  any JSON value, not SQL null
--   key      messages of one key go to one lane, in order; at most 1,024 octets
--   headers  a JSON object
--   delay    not delivered before this has passed; at most 10 years
-- Returns: one row a queue: its name, and the id that the message has there.
-- Raises: WR005, WR006, WR007, WR008, WR012, WR020
-- Locks: ROW EXCLUSIVE on the open segment of each queue, until the transaction ends.
create or replace function weir.publish(
    topic text,
    payload jsonb,
    key text default null,
    headers jsonb default null,
    delay interval default null)
returns table (queue_name text, id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    for queue_name in select r from weir.route(topic) r loop
        execute 'select ' || weir_internal.queue_function('send', queue_name) || '($1, $2, $3, $4, null)'
        into id using payload, key, headers, delay;
        return next;
    end loop;
end
$$;

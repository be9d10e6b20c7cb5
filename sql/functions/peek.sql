-- weir.peek(queue_name, group_name, max)
-- Shows messages that wait for a group, without claiming them: what is due of the delayed ones and retries is not
-- shown.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: messages by id; claim_id is null and attempt counts the deliveries so far.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: none
create or replace function weir.peek(queue_name text, group_name text default 'default', max int default 10)
returns setof weir.message
language plpgsql
as $$
begin
    return query
    select o.first_id, o.claim_id, o.attempt, o.keys[1], j.payload, o.headers[1], o.enqueued_at, coalesce(o.bodies[1],
        case when j.payload is null then pg_catalog.convert_to(o.payloads[1], 'UTF8') end)
    from weir.peek_records(peek.queue_name, peek.group_name, peek.max) o
    cross join lateral (select weir_internal.jsonb_of(o.payloads[1]) as payload) j;
end
$$;

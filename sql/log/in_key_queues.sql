-- weir_log.in_key_queues(g, p_ids), weir_log.find_in_key_queues(q, p_id)
-- in_key_queues: which messages wait in key queues of a group. find_in_key_queues: a message that waits in one of some
-- group of a queue.
--
-- Parameters:
--   g      the group
--   p_ids  messages
--   q      the queue
--   p_id   the message
-- Returns: in_key_queues: the messages; find_in_key_queues: the message, null when it waits in none. Who sent it is not
-- known there: its transaction is told as 1.
-- Raises: none
-- Locks: ACCESS SHARE on the key queues.
create or replace function weir_log.in_key_queues(g weir_internal.groups, p_ids bigint[])
returns bigint[]
language plpgsql stable
as $$
begin
    return array(select m.id from weir_log.in_key_queues m where m.id = any(p_ids) and m.group_no = g.no);
end
$$;
create or replace function weir_log.find_in_key_queues(q weir_internal.queues, p_id bigint)
returns weir_internal.delayed_row
language plpgsql stable
as $$
declare
    m weir_internal.delayed_row;
begin
    select '1'::xid8, k.queue_no, k.group_no, null, k.id, 0, k.key, k.headers, k.payload, k.body, k.enqueued_at, null
    into m
    from weir_log.in_key_queues k where k.id = p_id and k.queue_no = q.no limit 1;
    return m;
end
$$;

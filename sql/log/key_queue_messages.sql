-- weir_log.key_queue_messages(g)
-- The messages that wait in the key queues of a group with limits.
--
-- Parameters:
--   g  the group
-- Returns: the messages, in the order of each key.
-- Raises: none
-- Locks: ACCESS SHARE on the key queues.
create or replace function weir_log.key_queue_messages(g weir_internal.groups)
returns setof weir_internal.delayed_row
language plpgsql
as $$
begin
    if to_regclass('weir_log.in_key_queues') is not null then
        return query execute
            'select null::xid8, k.queue_no, k.group_no, null::timestamptz, k.id, k.attempts, k.key, k.headers,
                 k.payload, k.body, k.enqueued_at, null::text
             from weir_log.in_key_queues k where k.group_no = $1 order by k.no'
        using g.no;
    end if;
end
$$;

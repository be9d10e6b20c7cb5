-- weir_log.bury(q, g, p_messages, p_reason)
-- Puts messages among a group's dead letters.
--
-- Parameters:
--   q           the queue
--   g           the group
--   p_messages  the messages, attempts counting every delivery
--   p_reason    why
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on dead_letters; as weir_log.end_jobs.
create or replace function weir_log.bury(
    q weir_internal.queues, g weir_internal.groups, p_messages weir_internal.delayed_row[], p_reason text)
returns void
language plpgsql
as $$
begin
    if cardinality(p_messages) = 0 then
        return;
    end if;
    insert into weir_internal.dead_letters
        (queue_no, group_no, id, key, headers, payload, body, enqueued_at, attempts, died_at, reason)
    select q.no, g.no, m.id, m.key, m.headers, m.payload, m.body, m.enqueued_at, m.attempts,
        weir_internal.clock(), p_reason
    from unnest(p_messages) m
    on conflict (group_no, id) do update
    set attempts = excluded.attempts, died_at = excluded.died_at, reason = excluded.reason;
    perform weir_log.end_jobs(q, p_messages, 5, null, p_reason);
end
$$;

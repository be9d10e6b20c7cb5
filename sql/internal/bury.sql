-- weir_internal.bury(q, p_group, p_messages, p_reason)
-- Puts messages among a group's dead letters.
--
-- Parameters:
--   q           the queue
--   p_group     group number
--   p_messages  the messages, attempts counting every delivery
--   p_reason    why
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on dead_letters; as weir_internal.end_jobs.
create or replace function weir_internal.bury(
    q weir_internal.queues, p_group smallint, p_messages weir_internal.later_row[], p_reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into weir_internal.dead_letters
        (queue_no, group_no, id, key, payload, headers, enqueued_at, attempts, died_at, reason)
    select q.no, p_group, m.id, m.key, m.payload, m.headers, m.enqueued_at, m.attempts,
        weir_internal.clock(), p_reason
    from unnest(p_messages) m
    on conflict (queue_no, group_no, id) do update
    set attempts = excluded.attempts, died_at = excluded.died_at, reason = excluded.reason;
    perform weir_internal.end_jobs(q, p_messages, 5, null, p_reason);
end
$$;

-- weir_log.retry(q, g, p_messages, p_delay)
-- Has messages delivered to a group again. Also what is due at once waits among the delayed: the lanes hold what was
-- sent and nothing else, so that a position in them is never ambiguous.
--
-- Parameters:
--   q           the queue
--   g           the group
--   p_messages  the messages, attempts counting every delivery so far
--   p_delay     0 = at once; null = the group's backoff
-- Returns: nothing.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `delayed`, until the transaction ends.
create or replace function weir_log.retry(
    q weir_internal.queues, g weir_internal.groups, p_messages weir_internal.delayed_row[], p_delay interval)
returns void
language plpgsql
as $$
begin
    if cardinality(p_messages) = 0 then
        return;
    end if;
    perform weir_log.mark_special(q);
    insert into weir_log.delayed
    select pg_current_xact_id(), q.no, g.no, weir_log.due_at(coalesce(p_delay, weir_internal.backoff(g, m.attempts))),
        m.id, m.attempts, m.key, m.headers, m.payload, m.body, m.enqueued_at, m.reason
    from unnest(p_messages) m;
    if pg_sequence_last_value(q.waiting) > 0 then
        perform weir_log.wake(q);
    end if;
end
$$;

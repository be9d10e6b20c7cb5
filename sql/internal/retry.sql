-- weir_internal.retry(q, g, p_messages, p_delay)
-- Sends messages to one group again. Also what is due at once goes through `later`: the ordinary lanes of the log hold
-- what was sent and nothing else, so that a position in them is never ambiguous.
--
-- Parameters:
--   q           the queue
--   g           the group
--   p_messages  the messages, attempts counting every delivery so far
--   p_delay     0 = at once; null = the group's backoff
-- Returns: nothing.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `later`, until the transaction ends.
create or replace function weir_internal.retry(
    q weir_internal.queues, g weir_internal.groups, p_messages weir_internal.later_row[], p_delay interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'insert into weir_internal.q%1$s_later
         select pg_current_xact_id(),
             weir_internal.due_at($2, ''weir_internal.q%1$s_later_clock'',
                 coalesce($4, weir_internal.backoff($3, m.attempts))),
             m.id, ($3).id, m.attempts, m.key, m.payload, m.headers, m.enqueued_at
         from unnest($1) m', q.no)
    using p_messages, q.no, g, p_delay;
end
$$;

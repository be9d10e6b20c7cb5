-- weir_internal.retry(q, g, p_messages, p_delay)
-- weir_internal.<q>_retry, for what all queues share.
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
    execute format('select weir_internal.q%s_retry($1, $2, $3)', q.no) using g, p_messages, p_delay;
end
$$;

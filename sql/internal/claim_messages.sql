-- weir_internal.claim_messages(q, c, p_ids)
-- weir_internal.<q>_claim_messages, for what all queues share.
--
-- Parameters:
--   q      the queue
--   c      the claim
--   p_ids  which of its messages
-- Returns: one row a message, in the order of delivery; attempts counts the deliveries before this claim's first.
-- Raises: none
-- Locks: ACCESS SHARE on one segment.
create or replace function weir_internal.claim_messages(
    q weir_internal.queues, c weir_internal.claim, p_ids int8multirange)
returns table (
    id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute format('select * from weir_internal.q%s_claim_messages($1, $2)', q.no) using c, p_ids;
end
$$;

-- weir_internal.settle(p_queue, p_claim, p_ids, p_verb, p_delay, p_reason)
-- weir_internal.<q>_settle, for what all queues share.
--
-- Parameters:
--   p_queue   queue number
--   p_claim   the claim
--   p_ids     messages of it; null = all that are left
--   p_verb    'ack', 'nack', 'release' or 'reject'
--   p_delay   nack, release: null = the group's backoff
--   p_reason  kept with a dead letter
-- Returns: how many messages were settled; 0 when all of them were already.
-- Raises: WR006, WR009, WR010, WR011, WR012, WR016
-- Locks: the claim's advisory lock (shared, with one a message, for an ack of up to 32 messages), until the transaction
-- ends.
create or replace function weir_internal.settle(
    p_queue int, p_claim bigint, p_ids bigint[], p_verb text, p_delay interval, p_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_count int;
begin
    execute format('select weir_internal.q%s_settle($1, $2, $3, $4, $5)', p_queue)
    into v_count using p_claim, p_ids, p_verb, p_delay, p_reason;
    return v_count;
end
$$;

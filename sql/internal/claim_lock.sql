-- weir_internal.claim_lock(p_queue, p_claim)
-- The one key of a claim's advisory lock. Claims whose ids are alike in the low 32 bits share it, which can make one
-- wait but nothing worse.
--
-- Parameters:
--   p_queue  queue number
--   p_claim  the claim
-- Returns: the key.
-- Raises: none
-- Locks: none
create or replace function weir_internal.claim_lock(p_queue int, p_claim bigint)
returns bigint
language sql immutable
as $$
    select (22373::bigint << 48) | (p_queue::bigint << 32) | (p_claim & 4294967295)
$$;

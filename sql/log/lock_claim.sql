-- weir_log.lock_claim(p_claim, p_ids)
-- Keeps a claim from being given away while this transaction is open.
--
-- Parameters:
--   p_claim  the claim
--   p_ids    up to 32 messages: these alone are locked from others who settle; null or more = all of the claim
-- Returns: nothing.
-- Raises: none
-- Locks: the claim's advisory lock, exclusive or shared with one a message, until the transaction ends.
create or replace function weir_log.lock_claim(p_claim bigint, p_ids bigint[])
returns void
language plpgsql
as $$
begin
    if cardinality(p_ids) <= 32 then
        perform pg_advisory_xact_lock_shared(weir_internal.claim_lock(p_claim));
        perform pg_advisory_xact_lock(k)
        from (select distinct weir_internal.message_lock(p_claim, i) as k from unnest(p_ids) i order by k) l;
    else
        perform pg_advisory_xact_lock(weir_internal.claim_lock(p_claim));
    end if;
end
$$;

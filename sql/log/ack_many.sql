-- weir_log.ack_many(p_queue, p_claims, p_ids, p_requests)
-- The acks of many consumers in one call and one commit: see weir_log.settle_many.
--
-- Parameters:
--   p_queue     name of the queue
--   p_claims    claims; one may occur several times
--   p_ids       for each claim messages of it; '{(,)}' = all that are left
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: how many messages were finished; null = not done, ask again by ack, which says why.
-- Raises: WR001, WR006, WR012, WR016, WR019
-- Locks: as weir_log.settle_part, claim by claim.
create or replace function weir_log.ack_many(
    p_queue text, p_claims bigint[], p_ids int8multirange[], p_requests int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_log.settle_many(
        p_queue, array_fill('ack'::text, array[coalesce(cardinality(p_claims), 0)]), p_claims, p_ids, null, null,
        p_requests);
end
$$;

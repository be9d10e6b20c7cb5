-- weir_internal.fail_missing(p_queue, p_claim, p_ids)
-- Says that the log does not hold what a claim refers to, which no way through the engine leads to.
--
-- Parameters:
--   p_queue  name of the queue
--   p_claim  the claim
--   p_ids    the messages looked for
-- Returns: nothing; it always raises.
-- Raises: WR016
-- Locks: none
create or replace function weir_internal.fail_missing(p_queue text, p_claim bigint, p_ids int8multirange)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'queue "%" does not hold all of messages % of claim %', p_queue, p_ids, p_claim
        using errcode = 'WR016', hint = 'The log was emptied from outside, or this is a defect: please report it.';
end
$$;

-- weir_internal.check_many(p_verb, p_claims, p_count, p_requests)
-- Refuses a call for many claims whose arrays do not belong together.
--
-- Parameters:
--   p_verb      what was called, for the error
--   p_claims    the claims, 1 to 10,000
--   p_count     how many elements the array beside them has; null when there is none
--   p_requests  null, or one element a claim
-- Returns: nothing.
-- Raises: WR006, WR012
-- Locks: none
create or replace function weir_internal.check_many(p_verb text, p_claims bigint[], p_count int, p_requests int[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_isolation(p_verb);
    if p_claims is null or cardinality(p_claims) not between 1 and 10000 or array_position(p_claims, null) is not null
        or p_count <> cardinality(p_claims) or cardinality(p_requests) <> cardinality(p_claims)
        or array_position(p_requests, null) is not null then
        raise exception '% of % claims with % values and % requests', p_verb, coalesce(cardinality(p_claims), 0),
            coalesce(p_count::text, 'no'), coalesce(cardinality(p_requests)::text, 'no')
            using errcode = 'WR006', hint = 'Give 1 to 10,000 claims, none null, and as many of the others, or none.';
    end if;
end
$$;

-- weir_internal.check_many(p_verb, p_claims, p_ids, p_count, p_requests)
-- Refuses a call for many claims whose arrays do not belong together, or that does not say which messages it means.
--
-- Parameters:
--   p_verb      what was called, for the error
--   p_claims    the claims, 1 to 10,000
--   p_ids       for each claim its messages, '{(,)}' for all that are left; of no meaning to an extend
--   p_count     how many elements each other array beside them has
--   p_requests  null, or one element a claim
-- Returns: nothing.
-- Raises: WR006, WR012
-- Locks: none
create or replace function weir_internal.check_many(
    p_verb text, p_claims bigint[], p_ids int8multirange[], p_count int, p_requests int[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_claims int := coalesce(cardinality(p_claims), 0);
begin
    perform weir_internal.check_isolation(p_verb);
    if v_claims not between 1 and 10000 or p_count is distinct from v_claims or cardinality(p_requests) <> v_claims
        or 1 < any(array[array_ndims(p_claims), array_ndims(p_ids), array_ndims(p_requests)])
        or array_position(p_claims, null) is not null or array_position(p_requests, null) is not null then
        raise exception '% of % claims with % values and % requests', p_verb, v_claims, coalesce(p_count, 0),
            coalesce(cardinality(p_requests)::text, 'no')
            using errcode = 'WR006',
            hint = 'Give arrays of one dimension: 1 to 10,000 claims, none null, and as many of each other.';
    elsif p_verb <> 'extend'
        and (cardinality(p_ids) = v_claims and array_position(p_ids, null) is null) is not true then
        raise exception '% of % claims with messages of %', p_verb, v_claims, coalesce(cardinality(p_ids), 0)
            using errcode = 'WR006', hint = 'Name the messages of each claim as an int8multirange; '
                '''{(,)}'' is all that is left of it.';
    end if;
end
$$;

-- weir_internal.check_settle(p_verb, p_claim, p_ids)
-- Refuses to settle what is not named.
--
-- Parameters:
--   p_verb   what is asked for
--   p_claim  the claim
--   p_ids    messages of it; null = all that are left
-- Returns: nothing.
-- Raises: WR006, WR012
-- Locks: none
create or replace function weir_internal.check_settle(p_verb text, p_claim bigint, p_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.check_isolation(p_verb);
    if p_claim is null or array_ndims(p_ids) > 1 or p_ids is not null and array_position(p_ids, null) is not null then
        raise exception '% of claim %, messages %',
            p_verb, coalesce(p_claim::text, 'null'), coalesce(p_ids::text, 'null')
            using errcode = 'WR006',
            hint = 'Give the claim_id that receive returned, and the ids as an array of one dimension without nulls.';
    end if;
end
$$;

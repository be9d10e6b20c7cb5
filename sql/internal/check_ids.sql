-- weir_internal.check_ids(p_verb, p_claim, p_ids)
-- Refuses to finish messages that are not named: ack and reject cannot be taken back.
--
-- Parameters:
--   p_verb   what is asked for
--   p_claim  the claim
--   p_ids    messages of it
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_ids(p_verb text, p_claim bigint, p_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_ids is null then
        raise exception '% of claim %: no messages are named', p_verb, coalesce(p_claim::text, 'null')
            using errcode = 'WR006', hint = 'Give the ids that receive returned. weir.ack_all finishes all of a claim.';
    elsif array_ndims(p_ids) > 1 then
        raise exception '% of claim %, messages %', p_verb, coalesce(p_claim::text, 'null'), p_ids
            using errcode = 'WR006', hint = 'Give the ids as an array of one dimension.';
    end if;
end
$$;

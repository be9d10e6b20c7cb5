-- weir_internal.claim_state(p_queue, p_claim)
-- weir_internal.<q>_claim_state, for what all queues share.
--
-- Parameters:
--   p_queue  queue number
--   p_claim  the claim
-- Returns: one row: c, the claim with its deadline as extended; done, the ids its holder finished; taken, true when the
-- rest was given away.
-- Raises: WR009, WR010
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.claim_state(
    p_queue int, p_claim bigint, out c weir_internal.claim, out done int8multirange, out taken boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s record;
begin
    execute format('select * from weir_internal.q%s_claim_state($1)', p_queue) into s using p_claim;
    c := s.c;
    done := s.done;
    taken := s.taken;
end
$$;

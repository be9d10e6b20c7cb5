-- weir_log.append_claim(c)
-- Appends a row to the claim log.
--
-- Parameters:
--   c  the row
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log, until the transaction ends.
create or replace function weir_log.append_claim(c weir_internal.claim)
returns void
language plpgsql
as $$
declare
    v_ring bigint;
    v_done boolean;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        if weir_internal.open_claims_table(v_ring) = 0 then
            v_done := weir_log.append_claim_0(v_ring, c);
        else
            v_done := weir_log.append_claim_1(v_ring, c);
        end if;
        exit when v_done;
    end loop;
end
$$;

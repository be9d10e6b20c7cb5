-- weir_log.count_claim(p, p_out), weir_log.write_inflight(g, p_claims)
-- count_claim: counts what a limited group was delivered. write_inflight: writes its list of unfinished claims. The
-- caller holds the group's lock.
--
-- Parameters:
--   p      the queue, the group, and what weir_log.lock_limited told
--   p_out  the records claimed, of one claim
--   g, p_claims  the group, its unfinished claims
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.count_claim(p weir_internal.peeked, p_out weir.message_record[])
returns void
language plpgsql
as $$
declare
    g weir_internal.groups := p.g;
begin
    if g.rate_max is not null then
        perform setval(
            g.rate_sequence, p.arrival + weir_internal.count_messages(p_out) * weir_internal.rate_step(g));
    end if;
    if coalesce(g.concurrency_max, g.key_concurrency_max) is not null then
        perform weir_log.write_inflight(g, p.inflight || (p_out[1]).claim_id);
    end if;
end
$$;
create or replace function weir_log.write_inflight(g weir_internal.groups, p_claims bigint[])
returns void
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, -2, 1);
begin
    c.inflight := p_claims;
    perform weir_log.move_cursor(c);
end
$$;

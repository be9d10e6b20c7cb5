-- weir_log.claim_aside(p, p_want, p_lease, p_now, p_claim)
-- Claims what lies in no lane: what expired of it, what is due among the delayed, and of an ordered group what is due
-- in key queues.
--
-- Parameters:
--   p        the queue, the group, and what peek told
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
--   p_claim  the claim to add to; null = a new one
-- Returns: records.
-- Raises: none
-- Locks: the advisory lock of lane -1, tried, until the transaction ends.
create or replace function weir_log.claim_aside(
    p weir_internal.peeked, p_want int, p_lease interval, p_now timestamptz, p_claim bigint)
returns weir.message_record[]
language plpgsql
as $$
declare
    v_out weir.message_record[] := '{}';
begin
    if p.aside_expiry <= p_now then
        v_out := coalesce(weir_log.claim_stripe(p.q, p.g, weir_log.cursor(p.g, -1, 1), p_claim, p_want, p_lease, p_now),
            v_out);
        p_want := p_want - weir_internal.count_messages(v_out);
        p_claim := coalesce(p_claim, (v_out[1]).claim_id);
    end if;
    if p_want > 0 and p.is_due then
        v_out := v_out || weir_log.claim_due(p.q, p.g, p_claim, p_want, p_lease, p_now);
    end if;
    if (p.g).ordered then
        p_want := p_want - weir_internal.count_messages(v_out);
        p_claim := coalesce(p_claim, (v_out[1]).claim_id);
        v_out := v_out || weir_log.claim_parked(p.q, p.g, p_claim, p_want, p_lease, p_now);
    end if;
    return v_out;
end
$$;

-- weir_log.claim_all(p, p_max, p_lease, p_now, p_limited)
-- Claims what a group has: first what is due again or was parked, then the lanes; one receive in 32 begins with the
-- lanes, so that neither waits until the other is empty. When all there is lies in lanes in which others claim at this
-- moment, it waits for one of them, a tenth of a second at most.
--
-- Parameters:
--   p          the queue, the group, and what peek told
--   p_max      messages
--   p_lease    how long they are the caller's
--   p_now      time against which leases expire
--   p_limited  the caller holds the lock of a limited group
-- Returns: records, of one claim.
-- Raises: none
-- Locks: the advisory locks of cursors, until the transaction ends.
create or replace function weir_log.claim_all(
    p weir_internal.peeked, p_max int, p_lease interval, p_now timestamptz, p_limited boolean)
returns weir.message_record[]
language plpgsql
as $$
declare
    g weir_internal.groups := p.g;
    v_out weir.message_record[] := '{}';
    v_step weir.message_record[];
    v_aside boolean := p.is_due or p.aside_expiry <= p_now or g.ordered;
    v_lanes_first boolean := v_aside and random() < 0.03125;
    v_want int := p_max;
    v_lanes int[] := '{0}';
    v_busy int[] := '{}'; -- lanes in which others claim
    v_lane int;
begin
    if g.keyed then
        v_out := weir_log.claim_keyed(p, p_max, p_lease, p_now);
        v_want := 0;
    elsif v_aside and not v_lanes_first then
        v_out := weir_log.claim_aside(p, v_want, p_lease, p_now, null);
        v_want := v_want - weir_internal.count_messages(v_out);
    end if;
    if v_want > 0 then
        if p.is_keyed or (p.q).priorities > 1 then
            v_lanes := weir_log.ready_lanes(p.q, g, p_now);
        end if;
        foreach v_lane in array v_lanes loop
            v_step := weir_log.claim_lane(p.q, g, v_lane, (v_out[1]).claim_id, v_want, p_lease, p_now);
            if v_step is null then
                v_busy := array_append(v_busy, v_lane);
            elsif cardinality(v_step) > 0 then
                v_want := v_want - weir_internal.count_messages(v_step);
                if cardinality(v_out) = 0 then -- payloads are copied whenever an array is concatenated
                    v_out := v_step;
                else
                    v_out := v_out || v_step;
                end if;
                exit when v_want <= 0;
            end if;
        end loop;
    end if;
    if v_lanes_first and v_want > 0 then
        v_out := v_out || weir_log.claim_aside(p, v_want, p_lease, p_now, (v_out[1]).claim_id);
    end if;
    if g.ordered and cardinality(v_out) = 0 then -- what expired went to key queues
        v_out := weir_log.claim_parked(p.q, g, null, v_want, p_lease, p_now);
    end if;
    if cardinality(v_out) = 0 and cardinality(v_busy) > 0 then
        v_out := weir_log.claim_after_waiting(p.q, g, v_busy, v_want, p_lease, p_now);
    end if;
    if p_limited and cardinality(v_out) > 0 then
        perform weir_log.count_claim(p, v_out);
    end if;
    if cardinality(v_out) > 0 and p.with_cancelled is not true
        and exists (select from weir_internal.cancellations n where n.queue_no = (p.q).no) then
        return weir_log.drop_cancelled(p, v_out, p_max, p_lease, p_now, p_limited);
    end if;
    return v_out;
end
$$;

-- weir_log.claim_lane(q, g, p_lane, p_claim, p_want, p_lease, p_now)
-- Claims in one lane, or in its stripes, beginning with any of them.
--
-- Parameters:
--   q        the queue
--   g        the group
--   p_lane   0 or more
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: records; null when there may be something and others claim there.
-- Raises: none
-- Locks: the advisory locks of cursors, tried, until the transaction ends.
create or replace function weir_log.claim_lane(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_claim bigint, p_want int, p_lease interval,
    p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, p_lane, 1);
    v_width int := c.width;
    v_first int;
    v_out weir.message_record[] := '{}';
    v_step weir.message_record[];
    v_busy boolean := false;
begin
    if v_width is null then
        return weir_log.claim_stripe(q, g, c, p_claim, p_want, p_lease, p_now);
    end if;
    if c.next_expiry <= p_now then -- of claims that were made before the lane was split
        v_out := coalesce(weir_log.claim_stripe(q, g, c, p_claim, p_want, p_lease, p_now), v_out);
    end if;
    v_first := floor(random() * v_width);
    for i in 0 .. v_width - 1 loop
        exit when weir_internal.count_messages(v_out) >= p_want;
        v_step := weir_log.claim_stripe(q, g, weir_log.cursor(g, p_lane, v_width + (v_first + i) % v_width),
            coalesce(p_claim, (v_out[1]).claim_id), p_want - weir_internal.count_messages(v_out), p_lease, p_now);
        if v_step is null then
            v_busy := true;
        else
            v_out := v_out || v_step;
        end if;
    end loop;
    if cardinality(v_out) = 0 then
        if v_busy then
            return null;
        end if;
        perform weir_log.merge_stripes(q, g, p_lane, p_now);
    end if;
    return v_out;
end
$$;

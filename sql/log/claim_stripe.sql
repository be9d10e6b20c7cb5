-- weir_log.claim_stripe(q, g, c, p_claim, p_want, p_lease, p_now)
-- Claims with one cursor: what has expired, then what is new.
--
-- Parameters:
--   q, g     queue and group
--   c        the cursor, as it was seen without its lock
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: records; null when there may be something and another claims with this cursor.
-- Raises: none
-- Locks: the cursor's advisory lock, tried, until the transaction ends.
create or replace function weir_log.claim_stripe(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_claim bigint, p_want int, p_lease interval,
    p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    v_out weir.message_record[] := '{}';
begin
    if not weir_log.has_work(q, c, p_now) then
        return '{}';
    end if;
    if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, c.lane, c.stripe)) then
        return null;
    end if;
    g := weir_log.read_again(g);
    if g.no is null then
        return '{}';
    end if;
    c := weir_log.cursor(g, c.lane, c.stripe);
    if c.next_expiry <= p_now then
        v_out := weir_log.redeliver(q, g, c, p_claim, p_want, p_lease, p_now);
        p_want := p_want - weir_internal.count_messages(v_out);
        c := weir_log.refresh_cursor(g, c.lane, c.stripe, p_now);
        if c.next_expiry > p_now then -- stored even if nothing is claimed, or each receive would lock the lane to look
            perform weir_log.move_cursor(c);
        end if;
    end if;
    if p_want <= 0 or c.width is not null or c.lane < 0 then -- split, merged meanwhile, or of what is aside
        return v_out;
    end if;
    return v_out || weir_log.claim_new(q, g, c, coalesce(p_claim, (v_out[1]).claim_id), p_want, p_lease);
end
$$;

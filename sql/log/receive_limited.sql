-- weir_log.receive_limited(p, p_max, p_lease, p_now), weir_log.lanes_to_claim(p, p_now), weir_log.has_aside(p, p_now)
-- Receives in a group that has limits: takes the group's lock when there is something to claim, and claims as much as
-- the limits allow.
--
-- Parameters:
--   p        the queue, the group, and what peek told
--   p_max    messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: receive_limited: records, of one claim; lanes_to_claim: the lanes that have something to do; has_aside:
--   whether something is due among the delayed, parked, expired, or in a key queue that can be delivered from.
-- Raises: WR016
-- Locks: as weir_log.lock_limited and weir_log.claim_all.
create or replace function weir_log.receive_limited(
    p weir_internal.peeked, p_max int, p_lease interval, p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
begin
    if cardinality(weir_log.lanes_to_claim(p, p_now)) = 0 and not weir_log.has_aside(p, p_now) then
        return '{}';
    end if;
    p := weir_log.lock_limited(p, p_now);
    if p.room is null then
        return '{}';
    end if;
    return weir_log.claim_all(p, least(p_max, p.room), p_lease, p_now, true);
end
$$;
create or replace function weir_log.lanes_to_claim(p weir_internal.peeked, p_now timestamptz)
returns int[]
language plpgsql
as $$
begin
    if p.is_keyed or (p.q).priorities > 1 then
        return weir_log.ready_lanes(p.q, p.g, p_now);
    end if;
    return weir_log.lanes_with_work(p.q, p.g, '{0}', p_now);
end
$$;
create or replace function weir_log.has_aside(p weir_internal.peeked, p_now timestamptz)
returns boolean
language plpgsql
as $$
begin
    return coalesce(p.aside_expiry <= p_now, false)
        or p.is_due and weir_log.is_due(p.q, p.g, weir_log.cursor(p.g, -1, 1), p_now)
        or (p.g).ordered and exists (
            select from weir_log.parked k
            where k.group_no = (p.g).no and k.due_at <= p_now and k.holder is null)
        or (p.g).keyed and weir_log.has_key_turn(p.g);
end
$$;

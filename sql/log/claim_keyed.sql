-- weir_log.claim_keyed(p, p_want, p_lease, p_now)
-- Claims in a group that shares its deliveries out among keys: sets aside what has expired, what is due and what is
-- new, 1,000 messages at least or as many as are asked for, then lets the key queues have their turns. The caller holds
-- the group's lock.
--
-- Parameters:
--   p        the queue, the group, what peek told, and the claims that count
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: one record, or none.
-- Raises: WR016
-- Locks: the advisory locks of cursors, tried, until the transaction ends; ROW EXCLUSIVE on `key_queues`, `key_turns`,
-- the open segment and the claim log.
create or replace function weir_log.claim_keyed(
    p weir_internal.peeked, p_want int, p_lease interval, p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    g weir_internal.groups := p.g;
    v_lanes int[];
    v_lane int;
    v_flight jsonb := '{}';
    o weir.message_record;
begin
    if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, -1, 1)) then
        return '{}';
    end if;
    perform weir_log.claim_aside(p, 1000, p_lease, p_now, null);
    v_lanes := weir_log.lanes_to_claim(p, p_now);
    foreach v_lane in array v_lanes loop
        perform weir_log.claim_lane(
            p.q, g, v_lane, null, greatest(p_want, 1000) / cardinality(v_lanes) + 1, p_lease, p_now);
    end loop;
    if g.key_concurrency_max is not null then
        v_flight := weir_log.key_flight(g, p.inflight);
        insert into weir_log.key_turns (group_no, key_queue, no, state, pos)
        select g.no, f.key_queue, nextval('weir_internal.claim_numbers'), 'w', f.pos
        from weir_log.stopped_key_queues(g, v_flight) f where f.freed;
    end if;
    o := weir_log.deliver_fair(p.q, g, p_want, v_flight, p_lease);
    return case when o.n is null then '{}' else array[o] end;
end
$$;

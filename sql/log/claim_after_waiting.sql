-- weir_log.claim_after_waiting(q, g, p_lanes, p_want, p_lease, p_now), weir_log.wait_for_lane(p_key)
-- Claims in a lane in which others claimed: waits for its lock, a tenth of a second at most, so that a receive over a
-- backlog is not answered with nothing. Where there is much left behind what it claims, it splits the lane, so that
-- nobody has to wait the next time.
--
-- Parameters:
--   q, g     queue and group
--   p_lanes  the lanes
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
--   p_key    the lock
-- Returns: records; wait_for_lane: whether the lock was to be had in time.
-- Raises: none
-- Locks: the advisory lock of a cursor, until the transaction ends.
create or replace function weir_log.claim_after_waiting(
    q weir_internal.queues, g weir_internal.groups, p_lanes int[], p_want int, p_lease interval, p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    v_lane int := p_lanes[1 + floor(random() * cardinality(p_lanes))];
    c weir_internal.claim := weir_log.cursor(g, v_lane, 1);
    v_out weir.message_record[];
begin
    if c.width is not null then
        c := weir_log.cursor(g, v_lane, c.width + floor(random() * c.width)::int);
    end if;
    if not weir_log.wait_for_lane(weir_internal.lane_lock(g.no, v_lane, c.stripe)) then
        return '{}';
    end if;
    v_out := coalesce(weir_log.claim_lane(q, g, v_lane, null, p_want, p_lease, p_now), '{}');
    if cardinality(v_out) > 0 and not g.ordered and c.stripe = 1 then
        perform weir_log.split_lane(q, g, v_lane);
    end if;
    return v_out;
end
$$;
create or replace function weir_log.wait_for_lane(p_key bigint)
returns boolean
language plpgsql
set lock_timeout = '100ms'
as $$
begin
    perform pg_advisory_xact_lock(p_key);
    return true;
exception
    when lock_not_available or deadlock_detected then
        return false;
end
$$;

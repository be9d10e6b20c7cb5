-- weir_log.is_overtaken(q, g, p_lane)
-- Whether an ordered group may have messages in hand of lanes of keys of a later epoch than a lane's. Then what comes
-- yet from the lane was committed late, by who did not see the number of lanes change, and its key may be in somebody's
-- hands there. The queue is read anew: who claimed in a later epoch knew of it, and has not seen what the caller has.
-- When nobody has such messages, nobody gets any before this transaction has ended.
--
-- Parameters:
--   q, g    queue and group
--   p_lane  a lane of keys, whose lock the caller holds and from which it has read
-- Returns: see above; true also where another claims in a later lane at this moment.
-- Raises: none
-- Locks: the locks of later lanes, shared, tried, until the transaction ends.
create or replace function weir_log.is_overtaken(q weir_internal.queues, g weir_internal.groups, p_lane int)
returns boolean
language plpgsql
as $$
declare
    v_lanes int[];
begin
    select * into q from weir_internal.queues where no = q.no;
    if q.no is null or p_lane >= q.key_epochs[cardinality(q.key_epochs)] then
        return false;
    end if;
    v_lanes := array(
        select generate_series(min(e), q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes - 1)
        from unnest(q.key_epochs) e where e > p_lane);
    for i in 1 .. cardinality(v_lanes) loop
        if not pg_try_advisory_xact_lock_shared(weir_internal.lane_lock(g.no, v_lanes[i], 1)) then
            return true;
        end if;
    end loop;
    return exists (
        select from unnest(weir_log.lane_rows(g, v_lanes)) k
        where k.inflight <> '{}' and (weir_log.trim_inflight(g, k)).inflight <> '{}');
end
$$;

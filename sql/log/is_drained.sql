-- weir_log.is_drained(q, g, p_from, p_to)
-- Whether a group has claimed and finished everything in some lanes, stripes not counted: then it may go on to the
-- lanes of a later epoch. What a claim gave back stands in key queues, by its key and not by its lane, and does not
-- count. What was visible at the beginning of the call is not missed: a message goes from its lane into a claim and
-- from there into a key queue, and is looked for in that order. seek can put it back; it takes the locks of all lanes
-- first.
--
-- Parameters:
--   q, g         queue and group
--   p_from       the first lane
--   p_to         the lane behind the last
-- Returns: whether it has.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the segments.
create or replace function weir_log.is_drained(
    q weir_internal.queues, g weir_internal.groups, p_from int, p_to int)
returns boolean
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_lanes int[] := array(select generate_series(p_from, p_to - 1));
    v_lane int;
begin
    foreach v_lane in array weir_log.lanes_with_work(q, g, v_lanes, weir_internal.clock()) loop
        c := weir_log.cursor(g, v_lane, 1);
        if c.width is not null or weir_log.unclaimed(q, g, c, 1) > 0 then
            return false;
        end if;
    end loop;
    return not exists (
        select from unnest(weir_log.lane_rows(g, v_lanes)) k
        cross join lateral weir_log.unfinished(g.no, k.lane, 1, k.low, 'infinity', 1) u
        where k.inflight <> '{}' or not g.ordered); -- an ordered group's cursor lists them
end
$$;

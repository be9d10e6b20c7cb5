-- weir_log.undrained_lane(q, g, p_below)
-- The lowest lane of keys below another in which a group has not claimed and finished everything: when there is none,
-- it may go on to the lanes of a later epoch. What a claim gave back stands in key queues, by its key and not by its
-- lane, and does not count. What was visible at the beginning of the call is not missed: a message goes from its lane
-- into a claim and from there into a key queue, and is looked for in that order. seek can put it back; it takes the
-- locks of all lanes first.
--
-- Parameters:
--   q, g     queue and group
--   p_below  a lane
-- Returns: the lane; null: there is none.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the segments.
create or replace function weir_log.undrained_lane(
    q weir_internal.queues, g weir_internal.groups, p_below int)
returns int
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_lanes int[] := array(select generate_series(q.key_epochs[1], p_below - 1));
    v_lane int;
    v_first int;
begin
    for v_lane in
        select l from unnest(weir_log.lanes_with_work(q, g, v_lanes, weir_internal.clock())) l order by l
    loop
        c := weir_log.cursor(g, v_lane, 1);
        if c.width is not null or weir_log.unclaimed(q, g, c, 1) > 0 then
            v_first := v_lane;
            exit;
        end if;
    end loop;
    v_lanes := array(select generate_series(q.key_epochs[1], coalesce(v_first, p_below) - 1));
    return coalesce((
        select k.lane
        from (select * from unnest(weir_log.lane_rows(g, v_lanes)) r
              where r.inflight <> '{}' or not g.ordered -- an ordered group's cursor lists them
              order by r.lane) k
        cross join lateral weir_log.unfinished(g.no, k.lane, 1, k.low, 'infinity', 1) u
        order by k.lane limit 1), v_first);
end
$$;

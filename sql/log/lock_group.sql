-- weir_log.lock_lanes(q, g), weir_log.lock_claims(q, g), weir_log.bump_cursor(g)
-- lock_lanes: waits until nobody claims for a group, and keeps it so. lock_claims: waits until nobody settles an
-- unfinished claim of it, and keeps it so. bump_cursor: tells receives that are under way that a group is not what it
-- was when they read it: receive_plainly claims only while the newest row of the cursor is the one it read, and all
-- others read the group again under the lock.
--
-- Parameters:
--   q, g  queue and group
-- Returns: nothing.
-- Raises: none
-- Locks: the advisory locks of the group's cursors; lock_claims: of its claims; until the transaction ends.
create or replace function weir_log.lock_lanes(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_lane int;
begin
    foreach v_lane in array weir_log.lanes_now(q) loop
        perform weir_log.lock_cursor(weir_internal.lane_lock(g.no, v_lane, 1));
        c := weir_log.cursor(g, v_lane, 1); -- who splits or merges it holds that lock
        perform weir_log.lock_cursor(weir_internal.lane_lock(g.no, v_lane, i))
        from generate_series(c.width, 2 * c.width - 1) i;
    end loop;
end
$$;
create or replace function weir_log.lock_claims(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.claim_lock(o.claim))
    from (
        select distinct u.claim
        from weir_log.group_cursors(q, g) c
        cross join lateral weir_log.unfinished(g.no, c.lane, c.stripe, c.low, 'infinity', null) u
        order by u.claim) o;
end
$$;
create or replace function weir_log.bump_cursor(g weir_internal.groups)
returns void
language plpgsql
as $$
begin
    perform weir_log.move_cursor(weir_log.cursor(g, 0, 1));
end
$$;

-- weir_log.lock_cursors(q, g), weir_log.lock_cursor(p_key)
-- Takes the locks of all of a group's cursors: waits until no receive that claimed with one is open, and keeps others
-- from it. A lane that is not split cannot be while its lock is held. A receive that holds one lane may wait for
-- another for some milliseconds, which must not pass for a deadlock.
--
-- Parameters:
--   q, g   queue and group
--   p_key  the lock of a cursor
-- Returns: nothing.
-- Raises: none
-- Locks: the advisory locks of the group's lanes and stripes, until the transaction ends.
create or replace function weir_log.lock_cursors(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
as $$
declare
    v_lane int;
    v_width int;
begin
    for v_lane in
        select generate_series(-1, 7)
        union all
        select generate_series(q.key_epochs[1], q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes - 1)
    loop
        perform weir_log.lock_cursor(weir_internal.lane_lock(g.no, v_lane, 1));
        v_width := (weir_log.cursor(g, v_lane, 1)).width;
        perform weir_log.lock_cursor(weir_internal.lane_lock(g.no, v_lane, v_width + i))
        from generate_series(0, v_width - 1) i;
    end loop;
end
$$;
create or replace function weir_log.lock_cursor(p_key bigint)
returns void
language plpgsql
as $$
begin
    for i in 1 .. 20 loop
        begin
            perform pg_advisory_xact_lock(p_key);
            return;
        exception
            when deadlock_detected then
                null; -- the other gives up
        end;
    end loop;
    perform pg_advisory_xact_lock(p_key);
end
$$;

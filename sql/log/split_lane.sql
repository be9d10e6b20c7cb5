-- weir_log.split_lane(q, g, p_lane), weir_log.merge_stripes(q, g, p_lane, p_now)
-- split_lane: splits a group's cursor of a lane into 16 stripes, each of which reads its share of the records from
-- where the cursor stands, if there are many. The caller holds the lane's lock. merge_stripes: makes one cursor of them
-- again, when none has anything to do: all stand at the same snapshot then.
--
-- Parameters:
--   q, g    queue and group
--   p_lane  the lane
--   p_now   time against which leases expire
-- Returns: nothing.
-- Raises: none
-- Locks: merge_stripes: the locks of the lane and its stripes, tried, until the transaction ends; ROW EXCLUSIVE on the
-- claim log.
create or replace function weir_log.split_lane(q weir_internal.queues, g weir_internal.groups, p_lane int)
returns void
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, p_lane, 1);
    v_many weir_internal.reading;
begin
    if c.width is not null or c.finished then
        return;
    end if;
    v_many := weir_log.read_interval(c, q.no, g.since, 64);
    if not v_many.more and c.seg = pg_sequence_last_value('weir_log.log_ring') then
        return;
    end if;
    c.width := 16;
    perform weir_log.move_cursor(c);
    c.width := null;
    c.next_expiry := 'infinity';
    c.total := 0;
    for s in 16 .. 31 loop
        c.stripe := s;
        c.low := nextval('weir_internal.claim_numbers');
        perform weir_log.move_cursor(c);
    end loop;
end
$$;
create or replace function weir_log.merge_stripes(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_now timestamptz)
returns void
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, p_lane, 1);
    s weir_internal.claim;
    v_stripes weir_internal.claim[] := '{}';
    v_width int := c.width;
    v_cur pg_snapshot;
    v_hi bigint;
begin
    if v_width is null then
        return;
    end if;
    for i in 0 .. v_width - 1 loop
        s := weir_log.cursor(g, p_lane, v_width + i);
        if not s.finished or s.claimed_at > p_now - interval '1 second'
            or exists (select from weir_log.unfinished(g.no, p_lane, s.stripe, s.low, 'infinity', 1)) then
            return;
        end if;
    end loop;
    if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, p_lane, 1)) then
        return;
    end if;
    for i in 0 .. v_width - 1 loop
        if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, p_lane, v_width + i)) then
            return;
        end if;
    end loop;
    c := weir_log.cursor(g, p_lane, 1);
    v_cur := weir_internal.snapshot();
    v_hi := pg_sequence_last_value('weir_log.log_ring');
    c.lo := v_hi;
    for i in 0 .. v_width - 1 loop
        s := weir_log.cursor(g, p_lane, v_width + i);
        if c.width is distinct from v_width or not s.finished or weir_log.has_work(q, s, p_now)
            or exists (select from weir_log.unfinished(g.no, p_lane, s.stripe, s.low, 'infinity', 1)) then
            return;
        end if;
        c.total := c.total + coalesce(s.total, 0);
        c.lo := least(c.lo, s.lo);
    end loop;
    for i in 0 .. v_width - 1 loop -- who comes to one of them sees that it is over
        s := weir_log.cursor(g, p_lane, v_width + i);
        s.width := 0;
        perform weir_log.move_cursor(s);
    end loop;
    c.width := null;
    c.prev := v_cur;
    c.cur := v_cur;
    c.lo := weir_log.next_segment(c.lo, v_hi, v_cur);
    c.seg := c.lo;
    c.txid := '0';
    c.pos := 0;
    c.finished := true;
    perform weir_log.move_cursor(c);
end
$$;

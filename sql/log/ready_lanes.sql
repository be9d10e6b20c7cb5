-- weir_log.ready_lanes(q, g, p_now)
-- Which lanes of a group have something to do, in a few statements however many lanes there are.
-- lanes_with_work does it, with lane_rows, rows_of and sent_at: the cursors of lanes, those that have a row, and when a
-- lane's next message was sent.
--
-- Parameters:
--   q      the queue
--   g      the group
--   p_now  time against which leases expire
--   p_lanes, p_lane  lanes
--   p_ring           the state of the claim log's ring
-- Returns: lanes; it may name one too many, never one too few. With priorities, a level goes by when its next message
--   was sent, as if that were its priority times the queue's aging earlier; lanes of keys are of level 0. Lanes of keys
--   begin with any of them. An ordered group finishes the lanes of one epoch before it goes on to the next: claim_new
--   sees to that; here it is only so that it need not be asked in each lane.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the segments.
create or replace function weir_log.ready_lanes(q weir_internal.queues, g weir_internal.groups, p_now timestamptz)
returns int[]
language plpgsql
as $$
declare
    v_ready int[];
    v_keyed int[];
    v_ends int[] := q.key_epochs[2:] || (q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes);
    v_from int := 1; -- epochs
    v_to int := cardinality(q.key_epochs);
    v_part int[];
    v_first int;
begin
    v_ready := weir_log.lanes_with_work(q, g, array(select generate_series(0, q.priorities - 1)), p_now);
    if g.ordered and v_to > 1 then
        v_first := weir_log.undrained_lane(q, g, q.key_epochs[v_to]);
        v_to := coalesce((select max(i) from generate_subscripts(q.key_epochs, 1) i where q.key_epochs[i] <= v_first),
            v_to);
        v_from := v_to;
    end if;
    for e in v_from .. v_to loop
        v_part := weir_log.lanes_with_work(q, g, array(select generate_series(q.key_epochs[e], v_ends[e] - 1)), p_now);
        v_first := q.key_epochs[e] + floor(random() * (v_ends[e] - q.key_epochs[e]));
        v_keyed := v_keyed || array(select l from unnest(v_part) l order by l < v_first, l);
    end loop;
    if v_to < cardinality(q.key_epochs) then -- of later epochs, what expired
        v_keyed := v_keyed || array(
            select (k).lane
            from unnest(weir_log.lane_rows(g, array(
                select generate_series(v_ends[v_to], v_ends[cardinality(v_ends)] - 1)))) k
            where (k).next_expiry <= p_now);
    end if;
    if q.priorities = 1 then
        return v_ready || v_keyed;
    end if;
    return array(
        select r.lane
        from (select l as lane, l as level from unnest(v_ready) l
              union all
              select v_keyed[1], 0 where cardinality(v_keyed) > 0) h
        cross join lateral (select weir_log.sent_at(q, g, h.lane) - h.level * q.aging as rank) k
        cross join lateral unnest(case when h.lane >= 16 then v_keyed else array[h.lane] end) r (lane)
        order by k.rank, h.level desc, r.lane < v_first, r.lane);
end
$$;
create or replace function weir_log.lanes_with_work(
    q weir_internal.queues, g weir_internal.groups, p_lanes int[], p_now timestamptz)
returns int[]
language plpgsql
as $$
declare
    v_cursors weir_internal.claim[];
    v_idle weir_internal.claim[];
    v_now pg_snapshot;
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
begin
    v_cursors := weir_log.lane_rows(g, p_lanes);
    v_idle := array(select c from unnest(v_cursors) c
                    where (c).finished and (c).next_expiry > p_now and (c).width is null and (c).lo >= v_hi);
    v_now := weir_internal.snapshot();
    return array(
            select (c).lane from unnest(v_cursors) c
            where not (c).finished or (c).next_expiry <= p_now or (c).width is not null or (c).lo < v_hi)
        || case v_hi % 3
            when 0 then weir_log.new_lanes_0(v_idle, q.no, v_now)
            when 1 then weir_log.new_lanes_1(v_idle, q.no, v_now)
            else weir_log.new_lanes_2(v_idle, q.no, v_now) end;
end
$$;
create or replace function weir_log.lane_rows(g weir_internal.groups, p_lanes int[])
returns weir_internal.claim[]
language plpgsql
as $$
declare
    v_ring bigint;
    v_rows weir_internal.claim[];
    v_first weir_internal.claim[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        v_rows := weir_log.rows_of(v_ring, g, p_lanes);
        if cardinality(v_rows) < cardinality(p_lanes) then
            v_first := array(
                select weir_log.first_cursor(g, l, 1) from unnest(p_lanes) l
                where l <> all(array(select (c).lane from unnest(v_rows) c)));
            v_rows := weir_log.rows_of(v_ring, g, p_lanes); -- a new base may have come with rows for these
            v_rows := v_rows || array(
                select f from unnest(v_first) f
                where (f).lane <> all(array(select (c).lane from unnest(v_rows) c)));
        end if;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    return v_rows;
end
$$;
create or replace function weir_log.rows_of(p_ring bigint, g weir_internal.groups, p_lanes int[])
returns weir_internal.claim[]
language plpgsql
as $$
begin
    return case weir_internal.read_claims_table(p_ring)
        when 0 then weir_log.cursors_0(g.no, p_lanes)
        when 1 then weir_log.cursors_1(g.no, p_lanes)
        else weir_log.cursors_2(g.no, p_lanes) end;
end
$$;
create or replace function weir_log.sent_at(q weir_internal.queues, g weir_internal.groups, p_lane int)
returns timestamptz
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, p_lane, 1);
    s weir_internal.reading;
begin
    if c.finished then
        c := weir_log.next_interval(c);
    end if;
    s := weir_log.read_interval(c, q.no, g.since, 1);
    return coalesce((s.records[1]).enqueued_at,
        (select opened_at from weir_log.segments where no = c.seg), weir_internal.clock());
end
$$;

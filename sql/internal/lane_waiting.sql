-- weir_internal.lane_waiting(q, g, c, p_max)
-- How many messages of a lane a group has not claimed yet. Reads p_max records from the cursor on; when there are more,
-- the last 32 of the lane too, and estimates what lies between by the share that this lane has, at both ends, of the
-- message ids.
--
-- Parameters:
--   q      the queue
--   g      the group
--   c      the lane's cursor
--   p_max  records to count
-- Returns: one row: n, messages; oldest, when the oldest of the counted ones was sent; records, how many were counted;
-- exact, false when n is an estimate.
-- Raises: none
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_internal.lane_waiting(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_max int,
    out n bigint, out oldest timestamptz, out records int, out exact boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_lane int := c.slot % (q.lanes + 1);
    v_hi bigint := pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no));
    v_seg bigint := c.lo;
    v_inside boolean;     -- the cursor stands in this segment
    v_passed pg_snapshot; -- what is visible in it is claimed
    v_late xid8[];        -- transactions that were over later than others with a higher number
    v_from record;        -- everything behind it waits
    s record;
    v_head bigint;
    v_last bigint;
begin
    n := 0;
    records := 0;
    loop
        v_inside := not c.finished and v_seg = c.seg;
        v_passed := case when c.finished or v_seg < c.seg then c.cur else c.prev end;
        v_late := array(select pg_snapshot_xip(v_passed)
                        union select x from pg_snapshot_xip(c.cur) x where v_inside);
        select greatest(pg_snapshot_xmax(v_passed), case when v_inside then c.txid end) as txid,
            case when v_inside and c.txid >= pg_snapshot_xmax(v_passed) then c.pos else 0 end as id
        into v_from;
        execute format(
            'select count(*) as records, min(l.id - l.n) as head, max(l.id) as last,
                 min(l.enqueued_at) filter (where l.enqueued_at >= $3) as oldest,
                 coalesce(sum(case when l.enqueued_at < $3 then 0
                                   when not $4 or l.txid <> $5 then l.n when l.ids is null then least(l.n, l.id - $6)
                                   else (select count(*) from unnest(l.ids) i where i > $6) end), 0) as n
             from (
                 select l.* from (
                     (select s.id, s.n, s.ids, s.txid, s.enqueued_at
                      from unnest($1) x
                      cross join lateral (select * from weir_internal.q%1$s_log_%2$s s
                                          where s.lane = $2 and s.txid = x and (s.txid, s.id) <= ($7, $8)
                                              and (not $4 or (s.txid, s.id) > ($5, $6)
                                                   or not pg_visible_in_snapshot(s.txid, $9))) s
                      limit $10)
                     union all
                     (select s.id, s.n, s.ids, s.txid, s.enqueued_at
                      from weir_internal.q%1$s_log_%2$s s
                      where s.lane = $2 and (s.txid, s.id) > ($7, $8)
                      order by s.txid, s.id limit $10)
                 ) l limit $10
             ) l', q.no, v_seg % 3)
        into s
        using v_late, v_lane, g.since, v_inside, c.txid, c.pos, v_from.txid, v_from.id, c.cur, p_max - records;
        n := n + s.n;
        records := records + s.records;
        oldest := least(oldest, s.oldest);
        v_head := coalesce(v_head, s.head);
        v_last := coalesce(s.last, v_last);
        exact := records < p_max;
        exit when v_seg >= v_hi or not exact;
        v_seg := weir_internal.next_segment(q.no, v_seg + 1, v_hi, c.prev);
    end loop;
    if exact then
        return;
    end if;
    for v_seg in select i from generate_series(v_hi, v_seg, -1) i loop
        execute format(
            'select sum(l.n) as n, min(l.id - l.n) as head, max(l.id) as last
             from (select id, n from weir_internal.q%s_log_%s where lane = $1
                   order by txid desc, id desc limit 32) l', q.no, v_seg % 3)
        into s using v_lane;
        exit when s.n is not null;
    end loop;
    if s.last > v_last then
        n := n + weir_internal.extrapolate(n, v_last - v_head, s.n, s.last - s.head, s.last - v_last);
    else
        exact := true;
    end if;
end
$$;

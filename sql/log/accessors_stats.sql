-- weir_log.head_0 .. 3, sample_0 .. 3
-- What stats reads of the log; table 3 is `rest`. head: the first records of a lane, or of a stripe of it, that a
-- cursor has not claimed, found by two ranges of the index, so that it costs the same however long a transaction has
-- been open. sample: of 128 pages of the table, at equal distances, the records that some cursors have not claimed.
--
-- Parameters:
--   c           the cursor
--   p_cursors   cursors of one group
--   p_queue     queue number
--   p_segments  the segment in each table of the ring: see weir_log.ring_segments
--   p_since     what was sent before is not for the group
--   p_keys      whether to return keys
--   p_max       at most so many records
-- Returns: the records. Those of a sample stand for as many as `weight` says.
-- Raises: none
-- Locks: ACCESS SHARE on that table.
do $do$
begin
    for k in 0 .. 2 loop
        execute format($text$
create or replace function weir_log.head_%1$s(
    c weir_internal.claim, p_queue int, p_segments bigint[], p_since timestamptz, p_keys boolean, p_max int)
returns weir_internal.waiting_record[]
language plpgsql stable
as $body$
declare
    v_seg bigint := p_segments[%1$s + 1];
    v_inside boolean := not c.finished and v_seg = c.seg; -- the cursor stands in this segment
    v_passed pg_snapshot := case when c.finished or v_seg < c.seg then c.cur else c.prev end; -- claimed if visible here
    v_xmax xid8 := pg_snapshot_xmax(v_passed);
    v_txid xid8 := greatest(v_xmax, case when v_inside then c.txid end); -- what lies behind (v_txid, v_pos) waits
    v_pos bigint := case when v_inside and c.txid >= v_xmax then c.pos else 0 end;
    v_late xid8[]; -- and of what lies ahead, some of these transactions
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
begin
    if v_seg < greatest(c.lo, 0) then
        return '{}';
    end if;
    v_late := array(select pg_snapshot_xip(v_passed) union select x from pg_snapshot_xip(c.cur) x where v_inside);
    return array(
        select row(
            case when s.enqueued_at < p_since then 0
                 when not v_inside or s.txid <> c.txid or c.pos = 0 then s.n
                 when s.ids is null then least(s.n, s.id - c.pos)
                 else (select count(*) from unnest(s.ids) u (id) where u.id > c.pos) end,
            case when s.enqueued_at >= p_since then s.enqueued_at end,
            case when p_keys then s.keys end, 1)::weir_internal.waiting_record
        from (
            (select t.* from unnest(v_late) x
             cross join lateral (
                select r.txid, r.id, r.n, r.ids, r.enqueued_at, r.keys from weir_log.log_%1$s r
                where r.queue_no = p_queue and r.lane = c.lane and r.txid = x and (r.txid, r.id) <= (v_txid, v_pos)
                    and (not v_inside or (r.txid, r.id) > (c.txid, c.pos) or not pg_visible_in_snapshot(r.txid, c.cur))
                    and (v_mask = 0 or weir_internal.stripe_of(r.id, v_mask) = c.stripe)
                order by r.id) t
             limit p_max)
            union all
            (select r.txid, r.id, r.n, r.ids, r.enqueued_at, r.keys from weir_log.log_%1$s r
             where r.queue_no = p_queue and r.lane = c.lane and (r.txid, r.id) > (v_txid, v_pos)
                and (v_mask = 0 or weir_internal.stripe_of(r.id, v_mask) = c.stripe)
             order by r.txid, r.id limit p_max)) s
        limit p_max);
end
$body$$text$, k);
    end loop;
end
$do$;
create or replace function weir_log.head_3(
    c weir_internal.claim, p_queue int, p_segments bigint[], p_since timestamptz, p_keys boolean, p_max int)
returns weir_internal.waiting_record[]
language plpgsql stable
as $$
declare
    v_passed pg_snapshot := case when c.finished then c.cur else c.prev end;
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
begin
    return array(
        select row(
            case when r.enqueued_at < p_since then 0
                 when r.seg <> c.seg or r.txid <> c.txid or c.pos = 0 then r.n
                 when r.ids is null then least(r.n, r.id - c.pos)
                 else (select count(*) from unnest(r.ids) u (id) where u.id > c.pos) end,
            case when r.enqueued_at >= p_since then r.enqueued_at end,
            case when p_keys then r.keys end, 1)::weir_internal.waiting_record
        from weir_log.rest r
        where r.queue_no = p_queue and r.lane = c.lane and r.seg >= c.lo and r.seg <> all(p_segments)
            and not pg_visible_in_snapshot(r.txid, v_passed)
            and ((r.seg, r.txid, r.id) > (c.seg, c.txid, c.pos) or not pg_visible_in_snapshot(r.txid, c.cur))
            and (v_mask = 0 or weir_internal.stripe_of(r.id, v_mask) = c.stripe)
        limit p_max);
end
$$;
do $do$
begin
    for k in 0 .. 3 loop
        execute format($text$
create or replace function weir_log.sample_%1$s(
    p_cursors weir_internal.claim[], p_queue int, p_segments bigint[], p_since timestamptz, p_keys boolean)
returns weir_internal.waiting_record[]
language plpgsql stable
as $body$
declare
    v_pages bigint := pg_relation_size('weir_log.%2$s') / current_setting('block_size')::int;
    v_read int := least(v_pages, 128);
    v_from tid;
    v_to tid;
    v_out weir_internal.waiting_record[] := '{}';
begin
    for i in 0 .. v_read - 1 loop
        v_from := format('(%%s,0)', (i * 2 + 1) * v_pages / (2 * v_read))::tid;
        v_to := format('(%%s,0)', (i * 2 + 1) * v_pages / (2 * v_read) + 1)::tid;
        v_out := v_out || array(
            select row(
                case when %3$s <> c.seg or s.txid <> c.txid or c.pos = 0 then s.n
                     when s.ids is null then least(s.n, s.id - c.pos)
                     else (select count(*) from unnest(s.ids) u (id) where u.id > c.pos) end,
                s.enqueued_at, case when p_keys then s.keys end, v_pages / v_read::float8)::weir_internal.waiting_record
            from weir_log.%2$s s join unnest(p_cursors) c on c.lane = s.lane
            where s.ctid >= v_from and s.ctid < v_to and s.queue_no = p_queue and s.enqueued_at >= p_since %4$s
                and %3$s >= c.lo
                and (c.stripe < 2
                    or weir_internal.stripe_of(s.id, weir_internal.stripes_of(c.stripe) - 1) = c.stripe)
                and not pg_visible_in_snapshot(s.txid, case when c.finished then c.cur else c.prev end)
                and ((%3$s, s.txid, s.id) > (c.seg, c.txid, c.pos) or not pg_visible_in_snapshot(s.txid, c.cur)));
    end loop;
    return v_out;
end
$body$$text$, k, case when k < 3 then 'log_' || k else 'rest' end,
            case when k < 3 then 'p_segments[' || k + 1 || ']' else 's.seg' end,
            case when k = 3 then 'and s.seg <> all(p_segments)' end);
    end loop;
end
$do$;

-- weir_log.lane_remainder(p_seg, p_table, p_queue, p_lane, p_bytes)
-- What is needed of a lane in a segment that is closed: records that a group has still to claim, and those of
-- unfinished claims. It looks at what the cursors have not passed and at nothing else.
--
-- Parameters:
--   p_seg, p_table   the segment, and in which table of the ring it is
--   p_queue, p_lane  the lane
--   p_bytes          beyond this the search ends
-- Returns: rows, where they are; bytes, how much they are, about; holder, a group that needs them.
-- Raises: none
-- Locks: ACCESS SHARE on the table and on the claim log.
create or replace function weir_log.lane_remainder(
    p_seg bigint, p_table int, p_queue int, p_lane int, p_bytes bigint,
    out rows tid[], out bytes bigint, out holder int)
language plpgsql
as $$
declare
    c weir_internal.claim;
    u weir_internal.claim;
    s weir_internal.source;
    r record;
    v_cursors weir_internal.claim[];
    v_since timestamptz[];
    v_from xid8;   -- a cursor has passed all before, but for stragglers
    v_first xid8;
    v_slowest int; -- the group of that cursor
    v_late xid8[]; -- these: transactions that were in progress in its snapshots
    v_size text := '200 + pg_column_size(t.payloads) + coalesce(pg_column_size(t.bodies), 0)
                        + coalesce(pg_column_size(t.headers), 0) + coalesce(pg_column_size(t.keys), 0)';
begin
    rows := '{}';
    bytes := 0;
    select array_agg(k.c), array_agg(k.since) into v_cursors, v_since from weir_log.lane_cursors(p_queue, p_lane) k;
    foreach c in array coalesce(v_cursors, '{}') loop
        for u in
            select * from weir_log.unfinished(c.group_no, c.lane, c.stripe, c.low, 'infinity', null) w
            where coalesce((w.src).seg, w.seg) = p_seg
        loop
            s := coalesce(u.src, row(u.seg, u.lane, u.from_txid, u.from_pos, u.txid, u.pos)::weir_internal.source);
            for r in execute format(
                'select t.ctid, %s as bytes from %s t
                 where t.queue_no = $1 and t.lane = $2 and (t.txid, t.id) > ($3, $4) and t.txid <= $5
                     and (t.group_no is null or t.group_no = $6) and weir_log.has_any($7, t.ids, t.id, t.n)',
                v_size, weir_log.table_name(p_table))
                using p_queue, s.lane, s.from_txid, s.from_pos, s.to_txid, c.group_no, u.ids
            loop
                rows := array_append(rows, r.ctid);
                bytes := bytes + r.bytes;
                holder := c.group_no;
            end loop;
            if bytes > p_bytes then
                return;
            end if;
        end loop;
        continue when c.lane < 0 or c.width is not null and c.stripe = 1;
        v_first := pg_snapshot_xmax(case when c.finished or p_seg < c.seg then c.cur else c.prev end);
        if p_seg = c.seg and not c.finished then
            v_first := greatest(v_first, c.txid);
        end if;
        if v_from is null or v_first < v_from then
            v_from := v_first;
            v_slowest := c.group_no;
        end if;
        v_late := v_late || array(select pg_snapshot_xip(c.prev) union select pg_snapshot_xip(c.cur));
    end loop;
    if v_from is null then
        return;
    end if;
    for r in execute format(
        'select t.ctid, %s as bytes
         from (select l.* from (select distinct x from unnest($4) x where x < $3) y
               cross join lateral (select e.ctid, e.* from %2$s e
                                   where e.queue_no = $1 and e.lane = $2 and e.txid = y.x) l
               union all
               select e.ctid, e.* from %2$s e where e.queue_no = $1 and e.lane = $2 and e.txid >= $3) t
         where exists (select from generate_subscripts($5, 1) i
                       where weir_log.is_unclaimed($5[i], $6[i], $7, t.txid, t.id, t.enqueued_at))',
        v_size, weir_log.table_name(p_table))
        using p_queue, p_lane, v_from, v_late, v_cursors, v_since, p_seg
    loop
        rows := array_append(rows, r.ctid);
        bytes := bytes + r.bytes;
        holder := v_slowest;
        exit when bytes > p_bytes;
    end loop;
end
$$;

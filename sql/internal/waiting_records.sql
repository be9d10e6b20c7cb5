-- weir_internal.waiting_records(p_queue, g, p_lane)
-- The records of a lane that a group has not claimed yet.
--
-- Parameters:
--   p_queue  queue number
--   g        the group
--   p_lane   0 .. lanes - 1
-- Returns: records in order, each with its transaction; of the first, messages up to the id `after` are claimed
-- already (0 elsewhere).
-- Raises: none
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_internal.waiting_records(p_queue int, g weir_internal.groups, p_lane int)
returns table (
    id bigint, n int, ids bigint[], attempts smallint[], keys text[], payloads jsonb[], headers jsonb[],
    enqueued_at timestamptz, enqueued_times timestamptz[], after bigint, txid xid8)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    v_hi bigint := pg_sequence_last_value(format('weir_internal.q%s_log_ring', p_queue));
    v_seg bigint;
begin
    execute format('select k.* from weir_internal.queues q cross join lateral
                        weir_internal.q%s_cursor(($2 * (q.lanes + 1) + $3)::smallint) k where q.no = $1', p_queue)
    into c using p_queue, g.no, p_lane;
    v_seg := c.lo;
    loop
        -- claimed are the rows visible in prev, and those visible in cur up to the position
        return query execute format(
            'select l.id, l.n, l.ids, l.attempts, l.keys, l.payloads, l.headers, l.enqueued_at, l.enqueued_times,
                 case when not $5 and $4 = $3 and l.txid = $6 then $7 else 0 end, l.txid
             from weir_internal.q%s_log_%s l
             where l.lane = $1 and l.enqueued_at >= $2
                 and not pg_visible_in_snapshot(l.txid, $8)
                 and not (pg_visible_in_snapshot(l.txid, $9) and
                     ($5 or $4 < $3 or $4 = $3 and (l.txid, l.id) <= ($6, $7)))
             order by l.txid, l.id', p_queue, v_seg % 3)
        using p_lane, g.since, c.seg, v_seg, c.finished, c.txid, c.pos, c.prev, c.cur;
        exit when v_seg >= v_hi;
        v_seg := weir_internal.next_segment(p_queue, v_seg + 1, v_hi, c.prev);
    end loop;
end
$$;

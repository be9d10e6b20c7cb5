-- weir_log.waiting_records(q, g, c, p_max)
-- The records of a lane or stripe that a group has not claimed yet.
--
-- Parameters:
--   q, g   queue and group
--   c      the cursor
--   p_max  at most so many; null = all
-- Returns: records in order, each with its transaction; of the first, messages up to the id `after` are claimed
-- already (0 elsewhere).
-- Raises: none
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_log.waiting_records(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_max int)
returns table (
    id bigint, n int, ids bigint[], attempts int[], keys text[], payloads text[], headers jsonb[],
    enqueued_at timestamptz, enqueued_times timestamptz[], bodies bytea[], after bigint, txid xid8)
language plpgsql
as $$
declare
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
    v_seg bigint := c.lo;
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
    v_count int;
    s record;
begin
    if c.width is not null or c.lane < 0 then -- its stripes have them; what is aside waits in no lane
        return;
    end if;
    loop
        s := weir_log.lock_segment(v_seg);
        -- claimed are the rows visible in prev, and those visible in cur up to the position
        return query execute format(
            'select l.id, l.n, l.ids, l.attempts, l.keys, l.payloads, l.headers, l.enqueued_at, l.enqueued_times,
                 l.bodies, case when not $5 and $4 = $3 and l.txid = $6 then $7 else 0 end, l.txid
             from %s l
             where l.queue_no = $10 and l.lane = $1 and l.enqueued_at >= $2
                 and not pg_visible_in_snapshot(l.txid, $8)
                 and not (pg_visible_in_snapshot(l.txid, $9) and
                     ($5 or $4 < $3 or $4 = $3 and (l.txid, l.id) <= ($6, $7)))
                 and ($12 = 0 or weir_internal.stripe_of(l.id, $12) = $13) %s
             order by l.txid, l.id limit $11', s.table_name, s.condition)
        using c.lane, g.since, c.seg, v_seg, c.finished, c.txid, c.pos, c.prev, c.cur, q.no, p_max, v_mask, c.stripe;
        get diagnostics v_count = row_count;
        p_max := p_max - v_count;
        exit when v_seg >= v_hi or p_max <= 0;
        v_seg := weir_log.next_segment(v_seg + 1, v_hi, c.prev);
    end loop;
end
$$;

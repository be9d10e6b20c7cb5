-- weir_log.lane_cursors(p_queue, p_lane), weir_log.is_unclaimed(c, p_since, p_seg, p_txid, p_id, p_enqueued_at),
-- weir_log.has_any(p_ids, r)
-- lane_cursors: the cursors of all groups in a lane, and in its stripes; of a queue that has moved to another log none,
-- so that what it has left here is no one's. is_unclaimed: whether a record that was committed before a segment was
-- closed is still to be claimed with one of them. has_any: whether a record has one of the messages.
--
-- Parameters:
--   p_queue, p_lane  the lane
--   c                the cursor
--   p_since          what was sent before is not for its group
--   p_seg, p_txid, p_id, p_enqueued_at  the record
--   p_ids            messages
--   r_ids, r_id, r_n ids of the record
-- Returns: lane_cursors: the cursors, each with `since` of its group.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.lane_cursors(p_queue int, p_lane int)
returns table (since timestamptz, c weir_internal.claim)
language plpgsql
as $$
declare
    g weir_internal.groups;
    v_width int;
begin
    for g in
        select w.* from weir_internal.groups w join weir_internal.queues q on q.no = w.queue_no
        join weir_internal.logs h on h.schema_name = 'weir_log' and h.no in (q.log_no, q.moving_from)
        where w.queue_no = p_queue order by w.no
    loop
        since := (weir_internal.apply_ttl(g)).since;
        c := weir_log.cursor(g, p_lane, 1);
        v_width := c.width;
        return next;
        for i in 0 .. coalesce(v_width, 0) - 1 loop
            c := weir_log.cursor(g, p_lane, v_width + i);
            return next;
        end loop;
    end loop;
end
$$;
create or replace function weir_log.is_unclaimed(
    c weir_internal.claim, p_since timestamptz, p_seg bigint, p_txid xid8, p_id bigint, p_enqueued_at timestamptz)
returns boolean
language plpgsql
as $$
begin
    return c.lane >= 0 and (c.width is null or c.stripe > 1) -- a lane that is split is read by its stripes
        and p_enqueued_at >= p_since
        and not pg_visible_in_snapshot(p_txid, case when c.finished then c.cur else c.prev end)
        and (p_seg > c.seg or p_seg = c.seg and (p_txid, p_id) > (c.txid, c.pos)
            or not pg_visible_in_snapshot(p_txid, c.cur))
        and (c.stripe < 2
            or weir_internal.stripe_of(p_id, weir_internal.stripes_of(c.stripe) - 1) = c.stripe);
end
$$;
create or replace function weir_log.has_any(p_ids int8multirange, r_ids bigint[], r_id bigint, r_n int)
returns boolean
language plpgsql
as $$
begin
    if r_ids is null then
        return int8range(r_id - r_n + 1, r_id + 1) && p_ids;
    end if;
    return exists (select from unnest(r_ids) i where i <@ p_ids);
end
$$;

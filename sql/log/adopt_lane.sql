-- weir_log.adopt_lane(p_queue, p_lane), weir_log.adopt_cursor(q, g, p_lane, p_cursors)
-- How far groups have claimed a lane of a log that came in a dump. Snapshots say it, also another cluster's: whether a
-- transaction is visible in one is arithmetic. A record of a transaction that committed late, or of a stripe that is
-- behind, may be unclaimed before others that are claimed; its messages are put aside for the group.
--
-- Parameters:
--   p_queue, q  the queue
--   p_lane      the lane
--   g           the group
--   p_cursors   its cursor of the lane, or those of its stripes
-- Returns: adopt_lane: the cursors of groups that have more to claim, after the last message that each had claimed;
-- adopt_cursor: one, null when it has no more.
-- Raises: none
-- Locks: ACCESS SHARE on the log; those of weir_log.adopt_messages.
create or replace function weir_log.adopt_lane(p_queue int, p_lane int)
returns weir_internal.claim[]
language plpgsql
as $$
declare
    q weir_internal.queues;
    g weir_internal.groups;
    c weir_internal.claim;
    v_cursors weir_internal.claim[] := array(select k.c from weir_log.lane_cursors(p_queue, p_lane) k);
    v_out weir_internal.claim[] := '{}';
begin
    select * into q from weir_internal.queues where no = p_queue;
    for g in select * from weir_internal.groups w where w.queue_no = p_queue order by w.no loop
        c := weir_log.adopt_cursor(q, weir_internal.apply_ttl(g), p_lane,
            array(select k from unnest(v_cursors) k where k.group_no = g.no));
        if c.kind is not null then
            v_out := array_append(v_out, c);
        end if;
    end loop;
    return v_out;
end
$$;
create or replace function weir_log.adopt_cursor(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_cursors weir_internal.claim[])
returns weir_internal.claim
language plpgsql
as $$
declare
    c weir_internal.claim;
    r record;
    v_mask int := (select coalesce(k.width, 1) - 1 from unnest(p_cursors) k where k.stripe = 1);
    v_seg bigint; -- of the last message that was claimed
    v_pos bigint := 0;
    v_next weir_internal.source[] := '{}'; -- behind it, not claimed
    v_late weir_internal.source[] := '{}'; -- before it, not claimed
begin
    for r in
        select l.*, weir_log.is_unclaimed(k, g.since, l.seg, l.txid, l.id, l.enqueued_at) as waits,
            l.seg = k.seg and l.txid = k.txid and k.pos > 0 and k.pos >= l.first_id and k.pos < l.id as divided, k.pos
        from (select pg_sequence_last_value('weir_log.log_0_segment') as seg, t.txid, t.id, t.enqueued_at,
                  coalesce(t.ids[1], t.id - t.n + 1) as first_id
              from weir_log.log_0 t where t.queue_no = q.no and t.lane = p_lane
              union all
              select pg_sequence_last_value('weir_log.log_1_segment'), t.txid, t.id, t.enqueued_at,
                  coalesce(t.ids[1], t.id - t.n + 1)
              from weir_log.log_1 t where t.queue_no = q.no and t.lane = p_lane
              union all
              select pg_sequence_last_value('weir_log.log_2_segment'), t.txid, t.id, t.enqueued_at,
                  coalesce(t.ids[1], t.id - t.n + 1)
              from weir_log.log_2 t where t.queue_no = q.no and t.lane = p_lane
              union all
              select t.seg, t.txid, t.id, t.enqueued_at, coalesce(t.ids[1], t.id - t.n + 1)
              from weir_log.rest t where t.queue_no = q.no and t.lane = p_lane) l
        join unnest(p_cursors) k
            on k.stripe = case when v_mask = 0 then 1 else weir_internal.stripe_of(l.id, v_mask) end
        order by l.seg, l.id
    loop
        if not r.waits or r.divided then
            v_seg := r.seg;
            v_pos := case when r.waits then r.pos else r.id end;
            v_late := v_late || v_next;
            v_next := '{}';
        end if;
        if r.waits then
            v_next := array_append(v_next, row(r.seg, p_lane, r.txid,
                case when r.divided then r.pos else r.first_id - 1 end, r.txid, r.id)::weir_internal.source);
        end if;
    end loop;
    perform weir_log.adopt_messages(q, g, p_lane, array(
        select row(null, q.no, g.no, null, m.id, 0, m.key, m.headers, m.payload, m.body, m.enqueued_at, null)
            ::weir_internal.delayed_row
        from generate_subscripts(v_late, 1) i
        cross join lateral weir_log.read_source(
            v_late[i], q.no, g.no, int8multirange(int8range((v_late[i]).from_pos + 1, null))) m
        order by i, m.id));
    if v_next = '{}' then
        return null;
    end if;
    c.kind := 'c';
    c.id := nextval('weir_internal.claim_numbers');
    c.queue_no := q.no;
    c.group_no := g.no;
    c.lane := p_lane;
    c.stripe := 1;
    c.prev := '1:1:';
    c.cur := '2:2:'; -- the transaction 1 and nothing else
    c.seg := coalesce(v_seg, (v_next[1]).seg);
    c.lo := c.seg;
    c.txid := '1';
    c.pos := v_pos;
    c.finished := false;
    c.due_at := '-infinity';
    c.due_id := 0;
    c.low := 0;
    c.next_expiry := 'infinity';
    c.total := (select sum(k.total) from unnest(p_cursors) k);
    return c;
end
$$;

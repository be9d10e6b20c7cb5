-- weir_log.claim_due(q, g, p_claim, p_want, p_lease, p_now), weir_log.late(q, g, c)
-- Claims what has become due among the delayed: messages that were sent with a delay, which every group claims for
-- itself, and retries, which are for one group. They move into the log, into lane -1, as a record that only this claim
-- refers to.
--
-- The group's position among the delayed is (snapshot, due_at, id): every row visible in the snapshot and due up to
-- there is claimed. A row that commits later than the position passed its due time was in progress in the snapshot, so
-- it is found by its transaction: `late` tells those; see weir_log.due_at for why no other can be.
-- is_due: whether there is anything to claim. is_for: whether a row is for the group.
--
-- Parameters:
--   q, g     queue and group
--   c        late: the cursor of lane -1
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    the time
--   d        a row of `delayed`
-- Returns: one record, or none; late: the rows, each transaction's in order.
-- Raises: none
-- Locks: the advisory lock of lane -1, tried; ROW EXCLUSIVE on the open segment and the claim log.
create or replace function weir_log.claim_due(
    q weir_internal.queues, g weir_internal.groups, p_claim bigint, p_want int, p_lease interval, p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, -1, 1);
    k weir_internal.claim;
    l weir_internal.delayed_row;
    v_rows weir_internal.delayed_row[] := '{}';
    v_bound xid8;
    v_bytes bigint := 0;
begin
    if not weir_log.is_due(q, g, c, p_now)
        or not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, -1, 1)) then
        return '{}';
    end if;
    g := weir_log.read_again(g);
    if g.no is null then
        return '{}';
    end if;
    c := weir_log.cursor(g, -1, 1);
    k := c;
    v_bound := pg_current_xact_id_if_assigned();
    if weir_internal.to_micros(p_now) > pg_sequence_last_value('weir_log.delayed_clock') then
        perform setval('weir_log.delayed_clock', weir_internal.to_micros(p_now));
    end if;
    c.cur := weir_internal.snapshot();
    c.txid := case when v_bound is null then pg_current_xact_id() end; -- later than all that had one in that snapshot
    for l in
        select * from weir_log.late(q, g, k) t where pg_visible_in_snapshot(t.txid, c.cur)
    loop
        if cardinality(v_rows) < p_want and v_bytes < 33554432 then
            v_rows := array_append(v_rows, l);
            v_bytes := v_bytes + coalesce(pg_column_size(l.payload), pg_column_size(l.body));
        else -- too many for this call: due again, past the position this call will reach
            l.txid := pg_current_xact_id();
            l.due_at := greatest(p_now, c.due_at) + interval '1 microsecond';
            l.group_no := g.no;
            insert into weir_log.delayed select l.*;
        end if;
    end loop;
    for l in
        select s.* from weir_log.delayed s
        where s.queue_no = q.no and (s.due_at, s.id) > (c.due_at, c.due_id) and s.due_at <= p_now
            and pg_visible_in_snapshot(s.txid, c.cur) and weir_log.is_for(g, s)
        order by s.due_at, s.id limit greatest(0, p_want - cardinality(v_rows))
    loop
        exit when v_bytes >= 33554432;
        v_rows := array_append(v_rows, l);
        v_bytes := v_bytes + coalesce(pg_column_size(l.payload), pg_column_size(l.body));
        c.due_at := l.due_at;
        c.due_id := l.id;
    end loop;
    if cardinality(v_rows) = 0 then
        return '{}';
    elsif g.keyed then -- they take their turn
        perform weir_log.set_aside_again(q, g, v_rows);
        perform weir_log.move_cursor(c);
        return '{}';
    elsif g.ordered then
        perform weir_log.queue_delayed(q, g, v_rows);
        perform weir_log.move_cursor(c);
        return '{}';
    end if;
    return array[weir_log.claim_record(q, g, c, p_claim, v_rows, p_lease)];
end
$$;
create or replace function weir_log.late(q weir_internal.queues, g weir_internal.groups, c weir_internal.claim)
returns setof weir_internal.delayed_row
language plpgsql stable
as $$
declare
    v_xmax xid8 := pg_snapshot_xmax(c.cur);
begin
    if c.due_at = '-infinity' or c.txid <= v_xmax and pg_snapshot_xmin(c.cur) = v_xmax then
        return;
    end if;
    return query
    select s.*
    from (
        select pg_snapshot_xip(c.cur) as id
        union all
        select i::text::xid8 from generate_series(v_xmax::text::bigint, c.txid::text::bigint - 1) i
    ) x
    cross join lateral (
        select * from weir_log.delayed t
        where t.txid = x.id and t.queue_no = q.no and (t.due_at, t.id) <= (c.due_at, c.due_id)
            and weir_log.is_for(g, t)
        order by t.due_at, t.id) s;
    if c.txid is null then
        return query
        select * from weir_log.delayed t
        where t.txid >= v_xmax and t.queue_no = q.no and (t.due_at, t.id) <= (c.due_at, c.due_id)
            and weir_log.is_for(g, t);
    end if;
end
$$;
create or replace function weir_log.is_due(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_now timestamptz)
returns boolean
language plpgsql
as $$
begin
    return exists (
            select from weir_log.delayed s
            where s.queue_no = q.no and (s.due_at, s.id) > (c.due_at, c.due_id) and s.due_at <= p_now
                and weir_log.is_for(g, s))
        or exists (select from weir_log.late(q, g, c));
end
$$;
create or replace function weir_log.is_for(g weir_internal.groups, d weir_log.delayed)
returns boolean
language plpgsql
as $$
begin
    return (d.group_no is null or d.group_no = g.no)
        -- what is for this group alone may be older than its beginning
        and d.enqueued_at >= case when d.group_no is null then g.since else weir_internal.ttl_start(g) end
        and (g.purged is null or not pg_visible_in_snapshot(d.txid, g.purged));
end
$$;

-- weir_log.receive_plainly_0_0 .. 1_2(p_queue, p_group, p_max, p_lease, p_claims, p_log)
-- What a receive does when nothing is special, in few statements: a group without order or limits, one lane in the open
-- segment, nothing due again, nothing expired. It does what claim_new does, for a third of the price, since PL/pgSQL
-- prepares each expression anew in every transaction. It reads what is left of the cursor's interval and the next one
-- as one, which is the same when no transaction that was in progress between them has sent something. The lane's lock
-- is taken only when something was found. Then the queue, the group and the cursor must still be as they were read,
-- each by a statement of its own. All that is not plain is left to weir_log.receive, and nothing is written then. The
-- same text for each pair of tables of the two rings.
--
-- Parameters:
--   p_queue, p_group, p_max, p_lease  as weir_log.receive
--   p_claims, p_log                   states of the two rings
-- Returns: the records claimed; none when there is nothing; null: weir_log.receive must see.
-- Raises: none
-- Locks: the lane's advisory lock, until the transaction ends.
do $do$
begin
    for k in 0 .. 1 loop
        for l in 0 .. 2 loop
            execute format($text$
create or replace function weir_log.receive_plainly_%1$s_%2$s(
    p_queue text, p_group text, p_max int, p_lease interval, p_claims bigint, p_log bigint)
returns weir.message_record[]
language plpgsql
as $body$
declare
    v_queue int;
    v_special boolean;  -- see weir_log.mark_special
    v_first pg_snapshot;
    v_group int;
    v_since timestamptz;
    v_cursor bigint;    -- the cursor's row, and what it holds
    v_prev pg_snapshot;
    v_cur pg_snapshot;
    v_low bigint;
    v_expiry timestamptz;
    v_total bigint;
    v_plain boolean;
    v_txid xid8;        -- the position behind which the lane is read, then that behind what is claimed
    v_pos bigint;
    v_now pg_snapshot;
    v_time timestamptz;
    v_renew boolean;    -- v_low is looked up anew: see weir_log.lease
    r weir_internal.log_record;
    v_from_txid xid8;   -- the first that is claimed
    v_record bigint;
    v_claim bigint;
    v_other boolean;    -- it is not delivered as it lies there
    v_skip int;
    v_taken int;
    v_ids int8multirange;
    v_out weir.message_record[];
begin
    select q.no, pg_sequence_last_value(q.special) > 0, pg_current_snapshot() into v_queue, v_special, v_first
    from weir_internal.queues q
    where q.name = p_queue
        and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
        and not q.keyed and q.priorities = 1;
    select g.no, g.since into v_group, v_since
    from weir_internal.groups g
    where g.queue_no = v_queue and g.name = p_group
        and not (g.ordered or g.limited or g.paused or g.queue_paused) and g.ttl = interval '0';
    select o.id, o.prev, o.cur, o.low, o.next_expiry, o.total,
        o.width is null and o.next_expiry > weir_internal.clock() and o.seg = p_log and o.lo = p_log
            and (o.finished or o.txid >= pg_snapshot_xmax(o.prev)
                or pg_snapshot_xmin(o.prev) = pg_snapshot_xmax(o.prev)),
        case when o.finished then pg_snapshot_xmax(o.cur) else greatest(o.txid, pg_snapshot_xmax(o.prev)) end,
        case when o.finished or o.txid < pg_snapshot_xmax(o.prev) then 0 else o.pos end,
        pg_current_snapshot(), weir_internal.clock(), random() < 0.0625
    into v_cursor, v_prev, v_cur, v_low, v_expiry, v_total, v_plain, v_txid, v_pos, v_now, v_time, v_renew
    from weir_log.claims_%1$s o
    where o.kind = 'c' and o.group_no = v_group and o.lane = 0 and o.stripe = 1 order by o.id desc limit 1;
    if v_plain is not true or v_special or pg_snapshot_xmin(v_cur) < pg_snapshot_xmax(v_cur) then
        if v_plain is not true then
            return null;
        end if;
        if v_special then
            if exists (select from weir_log.delayed d where d.queue_no = v_queue and d.due_at <= v_time)
                or (select a.next_expiry <= v_time from weir_log.claims_%1$s a
                    where a.kind = 'c' and a.group_no = v_group and a.lane = -1 and a.stripe = 1
                    order by a.id desc limit 1)
                or exists (select from weir_internal.keyed_queues k where k.queue_no = v_queue)
                or exists (select from weir_internal.cancellations n where n.queue_no = v_queue) then
                return null;
            end if;
        end if;
        if exists ( -- what was in progress in cur may have sent
            select from pg_snapshot_xip(v_cur) x
            cross join lateral (
                select from weir_log.log_%2$s s where s.queue_no = v_queue and s.lane = 0 and s.txid = x limit 1) t
            where pg_visible_in_snapshot(x, v_now)) then
            return null;
        end if;
    end if;
    select t.ids is not null or t.attempts is not null or t.enqueued_at < v_since,
        case when t.txid = v_txid then greatest(0, v_pos - t.id + t.n) else 0 end, t.txid, t.id, t.txid,
        t.id, t.n, t.enqueued_at, t.keys, t.headers, t.payloads, t.bodies
    into v_other, v_skip, v_from_txid, v_record, v_txid,
        r.id, r.n, r.enqueued_at, r.keys, r.headers, r.payloads, r.bodies
    from weir_log.log_%2$s t
    where t.queue_no = v_queue and t.lane = 0 and (t.txid, t.id) > (v_txid, v_pos)
        and pg_visible_in_snapshot(t.txid, case when t.txid < pg_snapshot_xmax(v_cur) then v_cur else v_now end)
    order by t.txid, t.id limit 1;
    if r.id is null or v_other
        or pg_visible_in_snapshot(pg_current_xact_id_if_assigned(), v_now) -- has sent: see weir_internal.snapshot
        or pg_sequence_last_value('weir_log.log_ring') <> p_log -- the table may serve for another segment
        or not pg_try_advisory_xact_lock(weir_internal.lane_lock(v_group, 0, 1)) then
        return case when r.id is null and pg_visible_in_snapshot(pg_current_xact_id_if_assigned(), v_now) is not true
            and pg_sequence_last_value('weir_log.log_ring') = p_log
            and pg_sequence_last_value('weir_log.claims_ring') = p_claims then '{}'::weir.message_record[] end;
    end if;
    if pg_snapshot_xmax(v_first) <> pg_snapshot_xmax(pg_current_snapshot())
        or pg_snapshot_xmin(v_first) <> pg_snapshot_xmax(v_first) then -- others have committed, or may have
        if (select o.id from weir_log.claims_%1$s o
            where o.kind = 'c' and o.group_no = v_group and o.lane = 0 and o.stripe = 1 order by o.id desc limit 1)
            <> v_cursor
            or not exists (
                select from weir_internal.queues q join weir_internal.groups g on g.queue_no = q.no
                where q.name = p_queue and q.no = v_queue
                    and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
                    and (pg_sequence_last_value(q.special) > 0) = v_special and g.name = p_group and g.no = v_group
                    and g.since is not distinct from v_since and g.ttl = interval '0'
                    and not (q.keyed or g.ordered or g.limited or g.paused or g.queue_paused)) then
            return null;
        end if;
    end if;
    v_claim := nextval('weir_internal.claim_numbers');
    v_taken := least(r.n - v_skip, p_max);
    v_pos := r.id - r.n + v_skip + v_taken;
    v_ids := int8multirange(int8range(v_pos - v_taken + 1, v_pos + 1));
    v_out := array[case when v_taken = r.n
        then row(v_claim, v_taken, v_pos - v_taken + 1, null, 1, null, r.keys, r.payloads, r.headers, r.enqueued_at,
            null, r.bodies)::weir.message_record
        else weir_internal.slice(r, v_claim, v_skip, v_taken) end];
    if v_taken < p_max or v_renew then
        if v_renew then
            v_low := coalesce((select u.id from weir_log.unfinished(v_group, 0, 1, v_low, 'infinity', 1) u), v_claim);
        end if;
        for r in
            select * from weir_log.log_%2$s t
            where t.queue_no = v_queue and t.lane = 0 and (t.txid, t.id) > (v_txid, v_record)
                and pg_visible_in_snapshot(
                    t.txid, case when t.txid < pg_snapshot_xmax(v_cur) then v_cur else v_now end)
            order by t.txid, t.id limit p_max - v_taken
        loop
            if r.ids is not null or r.attempts is not null or r.enqueued_at < v_since then
                return null;
            end if;
            v_out := array_append(v_out, weir_internal.slice(r, v_claim, 0, least(r.n, p_max - v_taken)));
            v_pos := r.id - r.n + least(r.n, p_max - v_taken);
            v_ids := v_ids + int8multirange(int8range(r.id - r.n + 1, v_pos + 1));
            v_taken := v_taken + least(r.n, p_max - v_taken);
            v_txid := r.txid;
            exit when v_taken >= p_max;
        end loop;
    end if;
    insert into weir_log.claims_%1$s (kind, claim, id, queue_no, group_no, lane, stripe, prev, cur, lo, seg, txid, pos,
        finished, from_txid, from_pos, ids, n, attempt, claimed_at, deadline, pid, low, next_expiry, total)
    select 'c', v_claim, v_claim, v_queue, v_group, 0, 1,
        case when v_txid >= pg_snapshot_xmax(v_cur) then v_cur else v_prev end,
        case when v_txid >= pg_snapshot_xmax(v_cur) then v_now else v_cur end, p_log, p_log, v_txid, v_pos, false,
        v_from_txid, v_record - 1, v_ids, v_taken, 1, v_time, v_time + p_lease, pg_backend_pid(), v_low,
        least(v_expiry, v_time + p_lease), coalesce(v_total, 0) + v_taken
    where pg_sequence_last_value('weir_log.claims_ring') = p_claims;
    return case when found then v_out end;
end
$body$$text$, k, l);
        end loop;
    end loop;
end
$do$;

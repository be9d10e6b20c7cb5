-- pgmq._look(q, g, p_id), pgmq._look_here(q, g, p_id), pgmq._unread(q, g, p_id, p_cursors)
-- Where a message stands, if it is not deleted: with a claim, live or not, among the delayed, or in its lane, not read
-- yet. _look_here reads in the snapshot of the statement that calls it, so that a message on its way from one place to
-- another is seen in one of them; _look does it again when a ring turned meanwhile. _unread: the record in lane 0 that
-- has the message, when no reader has claimed it there.
--
-- Parameters:
--   q, g  queue and group
--   p_id  the message
--   p_cursors  the group's cursors
-- Returns: place: 'c', 'd', 'u', or null when it is nowhere; claim, the row of the claim that holds it; message, of 'd'
-- and 'u'. _unread: the record, or null.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function pgmq._look(
    q weir_internal.queues, g weir_internal.groups, p_id bigint,
    out place "char", out claim weir_internal.claim, out message weir_internal.delayed_row)
language plpgsql
as $$
declare
    v_rings bigint[];
    l record;
begin
    loop
        v_rings := weir_log_pgmq.ring_states();
        l := pgmq._look_here(q, g, p_id);
        exit when weir_log_pgmq.ring_states() = v_rings;
    end loop;
    place := l.place;
    claim := l.claim;
    message := l.message;
end
$$;
create or replace function pgmq._look_here(
    q weir_internal.queues, g weir_internal.groups, p_id bigint,
    out place "char", out claim weir_internal.claim, out message weir_internal.delayed_row)
language plpgsql stable
as $$
declare
    r weir_internal.log_record;
    v_cursors weir_internal.claim[];
    i int;
begin
    select c.* into claim
    from pgmq._span_keys(g.no, p_id) k
    cross join lateral (
        select * from weir_log_pgmq.claims_2 t
        where pgmq._span_key(t.group_no, t.ids) between k.first and k.last
            and t.group_no is not distinct from g.no and t.ids @> p_id
            and t.kind = 'c'
            and (select true from weir_log_pgmq.claims_2 e
                 where e.claim = t.claim and (e.kind = 'd' and e.id = p_id
                     or e.kind in ('D', 'x') and (e.ids is null or e.ids @> p_id)) limit 1) is null
        offset 0) c
    limit 1;
    if claim.kind is not null then
        claim.deadline := greatest(claim.deadline, (
            select max(e.deadline) from weir_log_pgmq.claims_2 e where e.claim = claim.claim and e.kind = 'e'));
        place := 'c';
        return;
    end if;
    v_cursors := array(select k from weir_log_pgmq.seen_cursors(q, g) k);
    select d.* into message
    from weir_log_pgmq.delayed d
    join unnest(v_cursors) c on c.lane = -1
    where d.queue_no = q.no and d.id = p_id and weir_log_pgmq.is_for(g, d)
        and not ((d.due_at, d.id) <= (c.due_at, c.due_id) and pg_visible_in_snapshot(d.txid, c.cur))
    limit 1;
    if message.id is not null then
        place := 'd';
        return;
    end if;
    r := pgmq._unread(q, g, p_id, v_cursors);
    if r.id is null or exists (select from weir_internal.cancellations n where n.queue_no = q.no and n.id = p_id) then
        return;
    end if;
    i := p_id - r.id + r.n;
    place := 'u';
    message := row(r.txid, q.no, null, null, p_id, 0, null, r.headers[i], r.payloads[i], null, r.enqueued_at,
        null)::weir_internal.delayed_row;
end
$$;
create or replace function pgmq._unread(
    q weir_internal.queues, g weir_internal.groups, p_id bigint, p_cursors weir_internal.claim[])
returns weir_internal.log_record
language plpgsql stable
as $$
declare
    f record;
begin
    for f in
        select * from pgmq._record_0(q.no, p_id) union all select * from pgmq._record_1(q.no, p_id)
        union all select * from pgmq._record_2(q.no, p_id) union all select * from pgmq._record_3(q.no, p_id)
    loop
        if f.seg > 0 and (f.r).id is not null and exists (
            select from unnest(p_cursors) c
            where c.lane = 0
                and weir_log_pgmq.is_unclaimed(c, g.since, f.seg, (f.r).txid, (f.r).id, (f.r).enqueued_at)
                and not (c.seg = f.seg and c.txid = (f.r).txid and p_id <= c.pos and c.pos <= (f.r).id)) then
            return f.r;
        end if;
    end loop;
    return null;
end
$$;

-- weir_log.read_0 .. 3, records_0 .. 3, waiting_0 .. 3, append_0 .. 2, has_new_0 .. 2, peek_0 .. 2, new_lanes_0 .. 2,
-- send_plainly_0 .. 2, cursor_0 .. 2, cursors_0 .. 2, unfinished_0 .. 2, append_claim_0 .. 1, ack_0 .. 1,
-- ack_all_0 .. 1
-- The statements that must name one table of a ring: the same text for each. No statement names two segments, or a
-- truncation of one would wait for who reads another. Table 3 of the log is `rest`; table 2 of the claim log is both.
--
-- read: the records of a lane, or of a stripe of it, that are visible in c.cur and not in c.prev and lie behind the
-- cursor's position in the segment c.seg. First the stragglers, transactions that were in progress in prev and are over
-- in cur, then all from xmax(prev): two ranges in index order, so that nothing is walked again however long a
-- transaction is open.
--
-- send_plainly: what a send does when it gives a payload alone and the queue has no limit to its backlog, in one
-- statement. It looks whether somebody waits when it has a transaction id, by which he sees that somebody is about to
-- send.
--
-- Parameters:
--   c           the cursor
--   p_queue     queue number; of peek, send_plainly, ack and ack_all: its name
--   p_payload   send_plainly: JSON text
--   p_late      the stragglers
--   p_since     what was sent before is passed over
--   p_want      messages wanted
--   p_ring      the ring's state; nothing is appended when it has turned meanwhile
--   r           append: the record
--   p_now       peek: the time
--   p_claim, p_id  ack: a message of a claim
--   p_ids       ack_all: all messages of the claim; null = whichever they are; records: only records with some of these
--   s           records: where the messages of a claim lie
--   p_seg       waiting: the segment in that table
--   p_max       waiting: at most so many records are looked at
--   p_group, p_lane, p_stripe  a cursor; p_lanes, p_cursors  several lanes, or their cursors
--   p_low, p_until  unfinished: see weir_log.unfinished. It is stable, so that it reads by one snapshot: a claim that
--               goes to another between two would be seen in neither hand
-- Returns: read: the records, the last of them perhaps with more than is wanted. append: whether it was appended.
--   cursor: the newest row of a cursor, null when it has none. records: the records there. waiting: how many messages
--   of the lane or stripe the cursor has not claimed. has_new: whether the open segment has something that is not
--   visible in c.cur. ack: how many messages it finished; null where it is not as simple as nearly always: see
--   weir_log.settle. send_plainly: the message's id; null where it is not so simple: see weir_log.send.
-- Raises: none
-- Locks: ACCESS SHARE or ROW EXCLUSIVE on that table, until the transaction ends.
do $do$
begin
    for k in 0 .. 3 loop
        execute format($text$
create or replace function weir_log.read_%1$s(
    c weir_internal.claim, p_queue int, p_late xid8[], p_since timestamptz, p_want int)
returns weir_internal.reading
language plpgsql
as $body$
declare
    v weir_internal.reading;
    r weir_internal.log_record;
    v_xmax xid8 := pg_snapshot_xmax(c.prev);
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
    v_left int := p_want;
begin
    v.txid := c.txid;
    v.pos := c.pos;
    v.passed := 0;
    v.more := false;
    for r in
        (
            select l.* from unnest(p_late) x
            cross join lateral (
                select s.txid, s.id, s.n, s.queue_no, s.lane, s.group_no, s.enqueued_at, s.ids, s.attempts,
                    s.enqueued_times, s.keys, s.headers, s.payloads, s.bodies
                from weir_log.%2$s s
                where s.queue_no = p_queue and s.lane = c.lane and s.txid = x %3$s
                    and s.id > case when x = c.txid then c.pos else 0 end
                    and (v_mask = 0 or weir_internal.stripe_of(s.id, v_mask) = c.stripe)
                order by s.id) l
        )
        union all
        (
            select s.txid, s.id, s.n, s.queue_no, s.lane, s.group_no, s.enqueued_at, s.ids, s.attempts,
                s.enqueued_times, s.keys, s.headers, s.payloads, s.bodies
            from weir_log.%2$s s
            where s.queue_no = p_queue and s.lane = c.lane %3$s
                and (s.txid, s.id) > (greatest(c.txid, v_xmax), case when c.txid < v_xmax then 0 else c.pos end)
                and s.txid < pg_snapshot_xmax(c.cur) and pg_visible_in_snapshot(s.txid, c.cur)
                and (v_mask = 0 or weir_internal.stripe_of(s.id, v_mask) = c.stripe)
            order by s.txid, s.id
        )
    loop
        if v_left <= 0 or v.passed >= 10000 then
            v.more := true;
            return v;
        end if;
        if r.enqueued_at < p_since then
            v.passed := v.passed + 1;
        else
            v.records := array_append(v.records, r);
            v_left := v_left - r.n + weir_internal.claimed_of(r, c.txid, c.pos);
        end if;
        v.txid := r.txid;
        v.pos := r.id;
    end loop;
    return v;
end
$body$$text$, k, case when k < 3 then 'log_' || k else 'rest' end, case when k = 3 then 'and s.seg = c.seg' end);
    end loop;
    for k in 0 .. 3 loop
        execute format($text$
create or replace function weir_log.records_%1$s(
    s weir_internal.source, p_queue int, p_group int, p_ids int8multirange)
returns weir_internal.log_record[]
language plpgsql
as $body$
begin
    return array(
        select row(l.txid, l.id, l.n, l.queue_no, l.lane, l.group_no, l.enqueued_at, l.ids, l.attempts,
                l.enqueued_times, l.keys, l.headers, l.payloads, l.bodies)::weir_internal.log_record
        from (
            (select * from weir_log.%2$s t
             where t.queue_no = p_queue and t.lane = s.lane %3$s
                 and (t.txid, t.id) > (s.from_txid, s.from_pos) and (t.txid, t.id) < (s.to_txid, s.to_pos)
             order by t.txid, t.id)
            union all
            (select * from weir_log.%2$s t
             where t.queue_no = p_queue and t.lane = s.lane %3$s
                 and (t.txid, t.id) >= (s.to_txid, s.to_pos) and (t.group_no is null or t.group_no = p_group)
             order by t.txid, t.id limit 1)) l
        where (l.group_no is null or l.group_no = p_group)
            and (l.ids is not null or int8range(l.id - l.n + 1, l.id + 1) && p_ids));
end
$body$$text$, k, case when k < 3 then 'log_' || k else 'rest' end, case when k = 3 then 'and t.seg = s.seg' end);
    end loop;
    for k in 0 .. 3 loop
        execute format($text$
create or replace function weir_log.waiting_%1$s(
    c weir_internal.claim, p_queue int, p_seg bigint, p_since timestamptz, p_max bigint)
returns bigint
language plpgsql
as $body$
declare
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
    v_prev pg_snapshot := case when c.finished then c.cur else c.prev end;
begin
    return (
        select coalesce(sum(m.n), 0)
        from (
            select s.n - case when s.txid <> c.txid or %3$s <> c.seg or c.pos = 0 then 0
                              when s.ids is null then greatest(0, c.pos - (s.id - s.n))
                              else (select count(*) from unnest(s.ids) i where i <= c.pos) end as n
            from weir_log.%2$s s
            where s.queue_no = p_queue and s.lane = c.lane and s.txid >= pg_snapshot_xmin(v_prev)
                and %3$s >= c.lo and s.enqueued_at >= p_since and not pg_visible_in_snapshot(s.txid, v_prev)
                and (not pg_visible_in_snapshot(s.txid, c.cur) or (%3$s, s.txid, s.id) > (c.seg, c.txid, c.pos))
                and (v_mask = 0 or weir_internal.stripe_of(s.id, v_mask) = c.stripe)
            %4$s limit p_max) m);
end
$body$$text$, k, case when k < 3 then 'log_' || k else 'rest' end, case when k < 3 then 'p_seg' else 's.seg' end,
            case when k < 3 then 'order by s.txid, s.id' end);
    end loop;
    for k in 0 .. 2 loop
        execute format($text$
create or replace function weir_log.has_new_%1$s(c weir_internal.claim, p_queue int)
returns boolean
language plpgsql
as $body$
declare
    v_mask int := weir_internal.stripes_of(c.stripe) - 1;
begin
    return exists (
            select from weir_log.log_%1$s s
            where s.queue_no = p_queue and s.lane = c.lane and s.txid >= pg_snapshot_xmax(c.cur)
                and (v_mask = 0 or weir_internal.stripe_of(s.id, v_mask) = c.stripe))
        or pg_snapshot_xmin(c.cur) < pg_snapshot_xmax(c.cur)
            and exists (
                select from pg_snapshot_xip(c.cur) x
                cross join lateral (
                    select from weir_log.log_%1$s s
                    where s.queue_no = p_queue and s.lane = c.lane and s.txid = x
                        and (v_mask = 0 or weir_internal.stripe_of(s.id, v_mask) = c.stripe) limit 1) t
                where pg_visible_in_snapshot(x, weir_internal.snapshot()));
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.peek_%1$s(p_queue text, p_group text, p_now timestamptz)
returns weir_internal.peeked
language plpgsql
as $body$
declare
    p weir_internal.peeked;
begin
    select q, g, c, (
            select a.next_expiry from weir_log.claims_%1$s a
            where a.kind = 'c' and a.group_no = g.no and a.lane = -1 and a.stripe = 1 order by a.id desc limit 1),
        exists (select from weir_log.delayed d where d.queue_no = q.no and d.due_at <= p_now),
        q.keyed or exists (select from weir_internal.keyed_queues k where k.queue_no = q.no)
    into p
    from weir_internal.queues q
    left join weir_internal.groups g on g.queue_no = q.no and g.name = p_group
    left join lateral (
        select * from weir_log.claims_%1$s l
        where l.kind = 'c' and l.group_no = g.no and l.lane = 0 and l.stripe = 1 order by l.id desc limit 1) c on true
    where q.name = p_queue
        and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    return p;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.new_lanes_%1$s(p_cursors weir_internal.claim[], p_queue int, p_now pg_snapshot)
returns int[]
language plpgsql
as $body$
begin
    return array(
        select c.lane from unnest(p_cursors) c
        where exists (select from weir_log.log_%1$s s
                      where s.queue_no = p_queue and s.lane = c.lane and s.txid >= pg_snapshot_xmax(c.cur))
            or pg_snapshot_xmin(c.cur) < pg_snapshot_xmax(c.cur)
            and exists (select from pg_snapshot_xip(c.cur) x
                        cross join lateral (select from weir_log.log_%1$s s
                                            where s.queue_no = p_queue and s.lane = c.lane and s.txid = x limit 1) t
                        where pg_visible_in_snapshot(x, p_now)));
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.cursors_%1$s(p_group int, p_lanes int[])
returns weir_internal.claim[]
language plpgsql
as $body$
begin
    return array(
        select c from unnest(p_lanes) l
        cross join lateral (
            select * from weir_log.claims_%1$s k
            where k.kind = 'c' and k.group_no = p_group and k.lane = l and k.stripe = 1 order by k.id desc limit 1) c);
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.append_%1$s(p_ring bigint, r weir_internal.log_record)
returns boolean
language plpgsql
as $body$
begin
    insert into weir_log.log_%1$s
    select pg_current_xact_id(), r.id, r.n, r.queue_no, r.lane, r.group_no,
        coalesce(r.enqueued_at, weir_internal.clock()), r.ids, r.attempts, r.enqueued_times, r.keys, r.headers,
        r.payloads, r.bodies
    where pg_sequence_last_value('weir_log.log_ring') = p_ring;
    return found;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.send_plainly_%1$s(p_ring bigint, p_queue text, p_payload text)
returns bigint
language plpgsql
as $body$
declare
    v_id bigint;
begin
    insert into weir_log.log_%1$s (txid, id, n, queue_no, lane, enqueued_at, payloads)
    select pg_current_xact_id(), nextval('weir_internal.record_numbers') * 1000, 1, q.no, 0, weir_internal.clock(),
        array[p_payload]
    from weir_internal.queues q
    where q.name = p_queue
        and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
        and octet_length(p_payload) <= q.message_bytes_max and strpos(p_payload, E'\\u') = 0 and q.backlog_max is null
        and pg_sequence_last_value('weir_log.log_ring') = p_ring and pg_current_xact_id() is not null
        and (coalesce(pg_sequence_last_value(q.waiting), 0) = 0 or weir_log.wake(q) is not null)
    returning id into v_id;
    return v_id;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.cursor_%1$s(p_group int, p_lane int, p_stripe int)
returns weir_internal.claim
language plpgsql
as $body$
declare
    c weir_internal.claim;
begin
    select * into c from weir_log.claims_%1$s
    where kind = 'c' and group_no = p_group and lane = p_lane and stripe = p_stripe order by id desc limit 1;
    return c;
end
$body$$text$, k);
    end loop;
    for k in 0 .. 2 loop
        execute format($text$
create or replace function weir_log.unfinished_%1$s(
    p_group int, p_lane int, p_stripe int, p_low bigint, p_until timestamptz, p_max int)
returns weir_internal.claim[]
language plpgsql stable
as $body$
declare
    c weir_internal.claim;
    v_out weir_internal.claim[] := '{}';
    v_seen bigint := 0;
    v record;
begin
    for c in
        select * from weir_log.claims_%1$s o
        where o.kind = 'c' and o.group_no = p_group and o.lane = p_lane and o.stripe = p_stripe and o.id >= p_low
            and o.claim is not null and o.deadline <= p_until -- which is only ever extended
            and (select true from weir_log.claims_%1$s d -- settled as a whole, as nearly always
                 where d.claim = o.claim and d.kind = 'D' and d.ids is null limit 1) is null
            and (o.n > 1 or (select true from weir_log.claims_%1$s d
                             where d.claim = o.claim and d.kind = 'd' and d.id = lower(o.ids) limit 1) is null)
        order by o.id
    loop
        continue when c.id = v_seen; -- a claim carried over stands in both tables for a while
        v_seen := c.id;
        select range_agg(m) as done, max(d.deadline) as deadline into v
        from weir_log.claims_%1$s d
        left join lateral unnest(
            case when d.kind = 'd' then int8multirange(int8range(d.id, d.id + 1)) else d.ids end) m on true
        where d.claim = c.claim and d.kind <> 'c';
        c.ids := c.ids - coalesce(v.done, '{}');
        continue when isempty(c.ids);
        c.deadline := greatest(c.deadline, v.deadline);
        continue when c.deadline > p_until;
        c.n := weir_internal.count_ids(c.ids);
        v_out := array_append(v_out, c);
        exit when cardinality(v_out) >= p_max;
    end loop;
    return v_out;
end
$body$$text$, k);
    end loop;
    for k in 0 .. 1 loop
        execute format($text$
create or replace function weir_log.ack_%1$s(p_ring bigint, p_queue text, p_claim bigint, p_id bigint)
returns int
language plpgsql
as $body$
begin
    insert into weir_log.claims_%1$s (kind, claim, id, n)
    select 'd', p_claim, p_id, 1
    where (
            select true from weir_log.claims_%1$s c
            where c.claim = p_claim and c.kind = 'c' and p_id <@ c.ids and c.deadline > weir_internal.clock()
                and c.limited is null
                and c.queue_no = (
                    select q.no from weir_internal.queues q
                    where q.name = p_queue
                        and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid])
            limit 1)
        and (select true from weir_log.claims_%1$s d
             where d.claim = p_claim and d.kind = any(array['D', 'p', 'x']::"char"[]) limit 1) is null
        and (select true from weir_log.claims_%1$s d
             where d.claim = p_claim and d.kind = 'd' and d.id = p_id limit 1) is null
        and pg_sequence_last_value('weir_log.claims_ring') = p_ring;
    return case when found then 1 end;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.ack_all_%1$s(
    p_ring bigint, p_queue text, p_claim bigint, p_ids int8multirange)
returns int
language plpgsql
as $body$
declare
    v_n int;
begin
    insert into weir_log.claims_%1$s (kind, claim, n)
    select 'D', p_claim, c.n
    from (select sum(w.n)::int as n, min(w.deadline) as deadline, min(w.queue_no) as queue_no,
              bool_or(w.limited) as limited, bool_and(w.ids <@ p_ids) as is_named
          from weir_log.claims_%1$s w where w.claim = p_claim and w.kind = 'c') c
    where c.deadline > weir_internal.clock() and c.limited is null
        and (p_ids is null or c.is_named and c.n = weir_internal.count_ids(p_ids))
        and c.queue_no = (
            select q.no from weir_internal.queues q
            where q.name = p_queue
                and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid])
        and (select true from weir_log.claims_%1$s d
             where d.claim = p_claim and d.kind = any(array['D', 'd', 'p', 'x']::"char"[]) limit 1) is null
        and pg_sequence_last_value('weir_log.claims_ring') = p_ring
    returning n into v_n;
    return v_n;
end
$body$$text$, k);
        execute format($text$
create or replace function weir_log.append_claim_%1$s(p_ring bigint, c weir_internal.claim)
returns boolean
language plpgsql
as $body$
begin
    insert into weir_log.claims_%1$s
    select c.* where pg_sequence_last_value('weir_log.claims_ring') = p_ring;
    return found;
end
$body$$text$, k);
    end loop;
end
$do$;

-- pgmq._list(p_queue), pgmq._count(p_queue), pgmq._unread_span(q, g, c)
-- _list: all messages of a queue, as PGMQ's table has them: what the view q_ shows. _count: how many there are, without
-- reading them all. _unread_span: what a cursor of lane 0 has not claimed.
--
-- Parameters:
--   p_queue  name of the queue
--   q, g     queue and group
--   c        the cursor
-- Returns: _list: messages by id. _count: n, messages; visible, those that a read would return; oldest and newest, when
-- the first and the last of them was sent. _unread_span: likewise.
-- Raises: 42P01, WR016, WR019
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function pgmq._list(p_queue text)
returns setof pgmq.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(p_queue);
    g weir_internal.groups := pgmq._group(q);
    v_cancelled bigint[] := array(select n.id from weir_internal.cancellations n where n.queue_no = q.no);
    v_void bigint[] := array(select n.id from weir_internal.cancellations n where n.queue_no = q.no and not n.moved);
begin
    return query
    select m.* from (
        select u.id as msg_id, 0, r.enqueued_at, null::timestamptz, r.enqueued_at, u.payload::jsonb, u.header
        from weir_log_pgmq.group_cursors(q, g) k
        cross join lateral weir_log_pgmq.waiting_records(q, g, k, null) r
        cross join lateral (
            select r.id - r.n + w.i as id, w.payload, w.header
            from unnest(r.payloads, r.headers) with ordinality w (payload, header, i)) u
        where k.lane = 0 and u.id > r.after and u.id <> all(v_cancelled)
        union all
        select e.id, e.attempts + c.attempt, e.enqueued_at, c.claimed_at,
            greatest(c.deadline, c.claimed_at - interval '1 microsecond'), e.payload::jsonb, e.headers
        from weir_log_pgmq.group_cursors(q, g) k
        cross join lateral weir_log_pgmq.unfinished(g.no, k.lane, k.stripe, k.low, 'infinity', null) c
        cross join lateral weir_log_pgmq.claim_messages(c, q.no, c.ids) e
        where e.id <> all(v_void)
        union all
        select (pgmq._message(d, pgmq._read_time(d.reason), d.due_at)).*
        from weir_log_pgmq.delayed d
        cross join lateral weir_log_pgmq.cursor(g, -1, 1) c
        where d.queue_no = q.no and weir_log_pgmq.is_for(g, d)
            and not ((d.due_at, d.id) <= (c.due_at, c.due_id) and pg_visible_in_snapshot(d.txid, c.cur))) m
    order by m.msg_id;
end
$$;
create or replace function pgmq._count(
    p_queue text, out n bigint, out visible bigint, out oldest timestamptz, out newest timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(p_queue);
    g weir_internal.groups := pgmq._group(q);
    v_now timestamptz := weir_internal.clock();
    v_cursors weir_internal.claim[] := array(select k from weir_log_pgmq.seen_cursors(q, g) k);
    c weir_internal.claim;
    u weir_internal.claim;
    r record;
begin
    n := -(select count(*) from weir_internal.cancellations w
           where w.queue_no = q.no and (pgmq._unread(q, g, w.id, v_cursors)).id is not null);
    visible := n;
    foreach c in array v_cursors loop
        if c.lane = 0 then
            r := pgmq._unread_span(q, g, c);
            n := n + r.n;
            visible := visible + r.n;
            oldest := least(oldest, r.oldest);
            newest := greatest(newest, r.newest);
        elsif c.lane = -1 then
            select count(*) as n, count(*) filter (where d.due_at <= v_now) as due, min(d.enqueued_at) as oldest,
                max(d.enqueued_at) as newest
            into r
            from weir_log_pgmq.delayed d
            where d.queue_no = q.no and weir_log_pgmq.is_for(g, d)
                and not ((d.due_at, d.id) <= (c.due_at, c.due_id) and pg_visible_in_snapshot(d.txid, c.cur));
            n := n + r.n;
            visible := visible + r.due;
            oldest := least(oldest, r.oldest);
            newest := greatest(newest, r.newest);
        end if;
        for u in select * from weir_log_pgmq.unfinished(g.no, c.lane, c.stripe, c.low, 'infinity', null) loop
            u.ids := u.ids - coalesce((
                select range_agg(int8range(w.id, w.id, '[]')) from weir_internal.cancellations w
                where w.queue_no = q.no and u.ids @> w.id and not w.moved), '{}');
            continue when isempty(u.ids);
            n := n + weir_internal.count_ids(u.ids);
            visible := visible + case when u.deadline <= v_now then weir_internal.count_ids(u.ids) else 0 end;
            select min(m.enqueued_at) as oldest, max(m.enqueued_at) as newest into r
            from weir_log_pgmq.claim_messages(u, q.no, int8multirange(int8range(lower(u.ids), lower(u.ids), '[]'),
                int8range(upper(u.ids) - 1, upper(u.ids) - 1, '[]'))) m;
            oldest := least(oldest, r.oldest);
            newest := greatest(newest, r.newest);
        end loop;
    end loop;
end
$$;
create or replace function pgmq._unread_span(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim,
    out n bigint, out oldest timestamptz, out newest timestamptz)
language plpgsql
as $$
declare
    v_table text;
    v_segments bigint[] := weir_log_pgmq.ring_segments();
    r record;
begin
    n := weir_log_pgmq.unclaimed(q, g, c, 9223372036854775807);
    if n = 0 then
        return;
    end if;
    for k in 0 .. 3 loop
        v_table := weir_log_pgmq.table_name(k);
        foreach v_table in array array[v_table || ' t where %s order by t.txid, t.id limit 1',
                                       v_table || ' t where %s order by t.id desc limit 1'] loop
            execute format('select t.enqueued_at from ' || v_table, format(
                't.queue_no = $1 and t.lane = 0 and weir_log_pgmq.is_unclaimed($2, $3, %s, t.txid, t.id, t.enqueued_at)
                 and t.txid >= pg_snapshot_xmin(case when ($2).finished then ($2).cur else ($2).prev end) and %1$s > 0',
                case when k < 3 then '$4' else 't.seg' end))
            into r using q.no, c, g.since, v_segments[k + 1];
            oldest := least(oldest, r.enqueued_at);
            newest := greatest(newest, r.enqueued_at);
        end loop;
    end loop;
end
$$;

-- weir_log.depths(p_queue, p_segments), weir_log.glance(p_segments), weir_log.sent_rates(p_queue)
-- Parts of weir_log.stats. depths: the groups of a queue, or of all; those that have nothing at all are found by one
-- statement, glance, so that ten thousand idle queues cost little. sent_rates: how much is sent to a queue, by the last
-- records of its lanes.
--
-- Parameters:
--   p_queue     queue number; null = all
--   p_segments  as weir_log.ring_segments told before the snapshot was taken
-- Returns: depths: as weir_log.stats, without sent_rate and what is told of the log. glance: such rows, right where
-- is_idle. sent_rates: one row a queue that was sent something in the last minute.
-- Raises: none
-- Locks: ACCESS SHARE on the log's tables.
create or replace function weir_log.depths(p_queue int, p_segments bigint[])
returns table (queue_no int, group_no int, s weir.group_stats)
language plpgsql stable
as $$
#variable_conflict use_column
declare
    q weir_internal.queues;
    g weir_internal.groups;
    r record;
begin
    for r in
        select t.queue_no, t.group_no, t.is_idle, t.s from weir_log.glance(p_segments) t
        where p_queue is null
        union all
        select w.queue_no, w.no, false, null from weir_internal.groups w where w.queue_no = p_queue
    loop
        queue_no := r.queue_no;
        group_no := r.group_no;
        s := r.s;
        if not r.is_idle then
            select * into g from weir_internal.groups w where w.no = r.group_no;
            select * into q from weir_internal.queues w where w.no = r.queue_no;
            if g.ttl > interval '0' then
                g := weir_internal.apply_ttl(g);
            end if;
            s := weir_log.group_depth(q, g, p_segments);
        end if;
        return next;
    end loop;
end
$$;
create or replace function weir_log.glance(p_segments bigint[])
returns table (queue_no int, group_no int, is_idle boolean, s weir.group_stats)
language plpgsql stable
as $$
#variable_conflict use_column
declare
    v_now timestamptz := weir_internal.clock();
    b weir_internal.claim;
begin
    select * into b from weir_log.claims_2
    where kind = 'c' and group_no = 0 and lane = 0 and stripe = 1 order by id desc limit 1;
    return query
    with lanes as materialized (
        select i.queue_no, i.lane
        from generate_series(0, 3) k cross join lateral weir_log.lanes_in(k, 0, -1, null) i
        where i.lane >= 0 group by i.queue_no, i.lane),
    newest as materialized (
        select l.*, greatest(
            (select s.txid from weir_log.log_0 s
             where s.queue_no = l.queue_no and s.lane = l.lane and p_segments[1] > -1
             order by s.txid desc, s.id desc limit 1),
            (select s.txid from weir_log.log_1 s
             where s.queue_no = l.queue_no and s.lane = l.lane and p_segments[2] > -1
             order by s.txid desc, s.id desc limit 1),
            (select s.txid from weir_log.log_2 s
             where s.queue_no = l.queue_no and s.lane = l.lane and p_segments[3] > -1
             order by s.txid desc, s.id desc limit 1)) as txid
        from lanes l
        union all
        select w.no, -1, null from weir_internal.queues w
        join weir_internal.logs o on o.no = w.log_no and o.schema_name = 'weir_log'),
    cursors as materialized (
        select g.no as group_no,
            c.width is not null
            or n.txid >= pg_snapshot_xmin(case when c.finished then c.cur else c.prev end)
            or n.lane >= 0 and (select true from weir_log.rest s
                                where s.queue_no = n.queue_no and s.lane = n.lane and s.seg >= c.lo limit 1) is true
            or (select true from weir_log.claims_2 k
                where k.kind = 'c' and k.group_no = g.no and k.lane = n.lane and k.stripe = 1 and k.id >= c.low
                    and k.claim is not null
                    and (select true from weir_log.claims_2 d
                         where d.claim = k.claim and d.kind = 'D' and d.ids is null limit 1) is null
                    and (k.n > 1 or (select true from weir_log.claims_2 d
                                     where d.claim = k.claim and d.kind = 'd' and d.id = lower(k.ids) limit 1) is null)
                order by k.id limit 1) is true as is_busy,
            c.claimed_at,
            case when c.claimed_at > v_now - interval '1 minute' then (
                select coalesce(max(k.total) - min(k.total - k.n)
                           filter (where k.claimed_at > v_now - interval '1 minute'), 0) / 60.0
                from (select * from weir_log.claims_2 w
                      where w.kind = 'c' and w.group_no = g.no and w.lane = n.lane and w.stripe = 1
                          and w.claim is not null
                      order by w.id desc limit 64) k) end as rate
        from newest n
        join weir_internal.groups g on g.queue_no = n.queue_no
        cross join lateral (
            (select k.finished, k.cur, k.prev, k.lo, k.width, k.low, k.claimed_at from weir_log.claims_2 k
             where k.kind = 'c' and k.group_no = g.no and k.lane = n.lane and k.stripe = 1 order by k.id desc limit 1)
            union all
            select f.finished, f.cur, f.prev, f.lo, f.width, 0, null
            from (select (case when pg_visible_in_snapshot(g.start_by, b.cur) then b else g.start end).*) f
            limit 1) c)
    select q.no, g.no,
        not (c.is_busy
            or (select true from weir_log.delayed d where d.queue_no = q.no limit 1) is true
            or (select true from weir_log.parked p where p.group_no = g.no limit 1) is true
            or (select true from weir_log.key_queues p where p.group_no = g.no limit 1) is true
            or (select true from weir_internal.dead_letters d where d.group_no = g.no limit 1) is true),
        row(q.name, g.name, 0, 0, 0, 0, 0, 0, null, true, null, c.rate, c.delivered_at, 0, null, null, null,
            q.key_lanes, null, null, null, null, null, null, null, null)::weir.group_stats
    from (select t.group_no, bool_or(coalesce(t.is_busy, false)) as is_busy, max(t.claimed_at) as delivered_at,
              coalesce(sum(t.rate), 0)::float8 as rate
          from cursors t group by t.group_no) c
    join weir_internal.groups g on g.no = c.group_no
    join weir_internal.queues q on q.no = g.queue_no
    join weir_internal.logs o on o.no = q.log_no and o.schema_name = 'weir_log'; -- not one that has moved away
end
$$;
create or replace function weir_log.sent_rates(p_queue int)
returns table (queue_no int, rate float8)
language plpgsql stable
as $$
#variable_conflict use_column
declare
    v_from timestamptz := weir_internal.clock() - interval '1 minute';
    v_now timestamptz := weir_internal.clock();
begin
    return query
    select l.queue_no, sum(r.rate)::float8
    from (select i.queue_no, i.lane
          from generate_series(0, 2) k
          cross join lateral weir_log.lanes_in(k, coalesce(p_queue, 0), -1,
              case when p_queue is not null then (select w.key_epochs[cardinality(w.key_epochs)] + w.key_lanes
                                                  from weir_internal.queues w where w.no = p_queue) end) i
          where i.lane >= 0 and i.queue_no = coalesce(p_queue, i.queue_no)
          group by i.queue_no, i.lane) l
    cross join lateral (
        select sum(t.n) filter (where t.enqueued_at > v_from) / greatest(0.001,
            case when count(*) >= 200 and min(t.enqueued_at) > v_from
                 then extract(epoch from v_now - min(t.enqueued_at)) else 60 end) as rate
        from (
            (select s.n, s.enqueued_at from weir_log.log_0 s
             where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 200)
            union all
            (select s.n, s.enqueued_at from weir_log.log_1 s
             where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 200)
            union all
            (select s.n, s.enqueued_at from weir_log.log_2 s
             where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 200)) t
        where (select true from (
                  (select s.enqueued_at from weir_log.log_0 s
                   where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 1)
                  union all
                  (select s.enqueued_at from weir_log.log_1 s
                   where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 1)
                  union all
                  (select s.enqueued_at from weir_log.log_2 s
                   where s.queue_no = l.queue_no and s.lane = l.lane order by s.txid desc, s.id desc limit 1)) e
               where e.enqueued_at > v_from limit 1) is true) r
    where r.rate > 0
    group by l.queue_no;
end
$$;

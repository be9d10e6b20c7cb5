-- standing
-- Template of weir_internal.<q>_standing: which of some messages a group still has before it, and how. Everything is
-- read in one statement, and so in one snapshot: a message that is on its way from one place to another is seen in one
-- of them. If a ring turned meanwhile, it is read again.
--
-- Parameters:
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
-- Returns: one row a message that is not finished in all groups: its state, 'running' (under a live claim), 'cancelled'
-- or 'waiting'; running: the claim.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
insert into weir_internal.templates (name, body) values ('standing', $template$
create or replace function weir_internal.{q}_standing(p_ids bigint[], p_txids xid8[])
returns table (id bigint, state text, claim bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
    v_now timestamptz := weir_internal.clock();
    v_asked int8multirange := (select range_agg(int8range(i, i + 1)) from unnest(p_ids) i where i is not null);
    v_ids bigint[];
    v_claims bigint[];
    v_ring bigint;
    v_log bigint;
begin
    if v_asked is null then
        return;
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_log := pg_sequence_last_value('weir_internal.{q}_log_ring');
        with asked as materialized (
            select u.id, u.txid from unnest(p_ids, p_txids) u (id, txid) where u.id is not null),
        cursors as materialized (
            select g.id as group_id, l.lane, c.slot, c.low, c.prev, c.cur, c.finished, c.seg, c.txid, c.pos, c.due_at,
                c.due_id, g.purged, greatest(g.since, o.start) as since, o.start
            from weir_internal.groups g
            cross join lateral (
                select case when g.ttl > interval '0' then v_now - g.ttl else '-infinity' end as start) o
            cross join generate_series(0, {lanes}) l (lane)
            cross join lateral (
                select * from weir_internal.{q}_claims_2 t
                where t.slot = (g.no * ({lanes} + 1) + l.lane)::smallint and t.what = 0
                order by t.id desc limit 1) c
            where g.queue_no = {no}),
        claimed as (
            select a.id, case when greatest(o.deadline, x.deadline) > v_now then o.id end as claim
            from cursors k
            cross join lateral (
                select * from weir_internal.{q}_claims_2 t
                where t.slot = k.slot and t.what = 0 and t.id >= k.low and t.n > 0 and t.ids && v_asked offset 0) o
            cross join lateral (
                select coalesce(bool_or(e.ids is null), false) as whole, range_agg(r) as done
                from weir_internal.{q}_claims_2 e left join lateral unnest(e.ids) r on true
                where e.slot = o.slot and e.what = 2 and e.id = o.id) d
            cross join lateral (
                select max(e.deadline) as deadline from weir_internal.{q}_claims_2 e
                where e.slot = o.slot and e.what = 3 and e.id = o.id) x
            join asked a on a.id <@ o.ids and not a.id <@ coalesce(d.done, '{}')
            where not d.whole),
        waiting as (
            select a.id
            from cursors k
            cross join asked a
            cross join lateral (values (a.txid), ('1'::xid8)) t (txid) -- 1: it was adopted since
            cross join lateral (
                (select 0 as k, s.* from weir_internal.{q}_log_0 s
                 where s.lane = k.lane and s.txid = t.txid and s.id >= a.id order by s.id limit 1)
                union all
                (select 1 as k, s.* from weir_internal.{q}_log_1 s
                 where s.lane = k.lane and s.txid = t.txid and s.id >= a.id order by s.id limit 1)
                union all
                (select 2 as k, s.* from weir_internal.{q}_log_2 s
                 where s.lane = k.lane and s.txid = t.txid and s.id >= a.id order by s.id limit 1)) r
            cross join lateral (
                select max(s.no) as seg from weir_internal.segments s
                where s.queue_no = {no} and s.no % 3 = r.k and s.no <= v_log) s
            where k.lane < {lanes}
                and not pg_visible_in_snapshot(t.txid, k.prev)
                and not (pg_visible_in_snapshot(t.txid, k.cur) and k.finished)
                and not (pg_visible_in_snapshot(t.txid, k.cur)
                    and (s.seg < k.seg or s.seg = k.seg and (t.txid, a.id) <= (k.txid, k.pos)))
                and case when r.ids is null then a.id > r.id - r.n else a.id = any(r.ids) end
                and r.enqueued_at >= k.since and (r.group_id is null or r.group_id = k.group_id)
            union all
            select a.id
            from cursors k
            cross join asked a
            join weir_internal.{q}_later l on l.id = a.id
            where k.lane = {lanes} and (l.group_id is null or l.group_id = k.group_id)
                and l.enqueued_at >= case when l.group_id is null then k.since else k.start end
                and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
                and (k.purged is null or not pg_visible_in_snapshot(l.txid, k.purged))
            union all
            select a.id
            from cursors k
            cross join asked a
            join weir_internal.{q}_parked p on p.group_id = k.group_id and p.id = a.id
            where k.lane = {lanes}
            --{ {keyed}
            union all
            select a.id
            from cursors k
            cross join asked a
            join weir_internal.{q}_in_line p on p.group_id = k.group_id and p.id = a.id
            where k.lane = {lanes}
            --}
            )
        select array_agg(m.id), array_agg(m.claim) into v_ids, v_claims
        from (select c.id, max(c.claim) as claim
              from (select * from claimed union all select w.id, null from waiting w) c
              group by c.id) m;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring
            and pg_sequence_last_value('weir_internal.{q}_log_ring') = v_log;
    end loop;
    return query
    select u.id, case when u.claim is not null then 'running'
                      when exists (select from weir_internal.cancellations c where c.queue_no = {no} and c.id = u.id)
                      then 'cancelled' else 'waiting' end,
        u.claim
    from unnest(v_ids, v_claims) u (id, claim);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

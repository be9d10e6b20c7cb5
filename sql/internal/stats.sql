-- weir_internal.stats(queue_name)
-- How each group of a queue stands, all of one moment: the tables are locked first, because a truncation shows in older
-- snapshots, too, and what counts messages reads them in one.
--
-- Parameters:
--   queue_name  the queue
-- Returns: one row a group, see weir.group_stats.
-- Raises: WR001, WR012, WR016
-- Locks: ACCESS SHARE on the tables that hold messages, until the transaction ends.
create or replace function weir_internal.stats(queue_name text)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    o weir.group_stats;
    v_tables regclass[] := array(
        select to_regclass(format('weir_internal.q%s_%s', q.no, t))
        from unnest(array['log_0', 'log_1', 'log_2', 'claims_0', 'claims_1', 'later', 'parked', 'lines', 'turns']) t
        where to_regclass(format('weir_internal.q%s_%s', q.no, t)) is not null);
    r record;
begin
    perform weir_internal.check_isolation('stats');
    execute format('lock table %s in access share mode', array_to_string(v_tables, ', '));
    o.queue_name := q.name;
    o.lanes := q.lanes / q.priorities;
    select count(*) filter (where s.freed_by is null
               and s.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no))),
        max(s.sealed_at)
    into o.segments, o.rotated_at
    from weir_internal.segments s where s.queue_no = q.no;
    o.bytes := (select sum(pg_total_relation_size(t))
                from unnest(v_tables || to_regclass(format('weir_internal.q%s_dedup_0', q.no))
                                     || to_regclass(format('weir_internal.q%s_dedup_1', q.no))) t);
    o.sent := coalesce(pg_sequence_last_value(format('weir_internal.q%s_ids', q.no)), 0);
    select b.what, b.pid, b.age, b.query into o.blocked_by, o.blocker_pid, o.blocker_age, o.blocker_query
    from weir_internal.rotation_blocker(q) b;
    for r in
        select g, d.*
        from weir_internal.groups w
        cross join lateral weir_internal.apply_ttl(w) g
        cross join lateral weir_internal.group_depth(q, g) d
        where w.queue_no = q.no order by w.name
    loop
        o.group_name := (r.g).name;
        o.waiting := r.waiting;
        o.claimed := r.claimed;
        o.delayed := r.delayed;
        o.parked := r.parked;
        o.dead := r.dead;
        o.delivered := r.delivered;
        o.exact := r.exact;
        o.oldest_age := weir_internal.clock() - r.oldest;
        select s.sent_rate, s.delivered_rate into o.sent_rate, o.delivered_rate
        from weir_internal.rates(r.g, o.sent, o.delivered) s;
        o.held_by := case when (r.g).limited then weir_internal.held_by(q, r.g) end;
        return next o;
    end loop;
end
$$;

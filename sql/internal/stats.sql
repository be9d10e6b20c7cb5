-- weir_internal.stats(queue_name)
-- How each group of a queue stands.
--
-- Parameters:
--   queue_name  the queue
-- Returns: one row a group, see weir.group_stats.
-- Raises: WR001, WR012, WR016
-- Locks: none
create or replace function weir_internal.stats(queue_name text)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    o weir.group_stats;
    v_oldest timestamptz;
begin
    perform weir_internal.check_isolation('stats');
    o.queue_name := q.name;
    o.lanes := q.lanes / q.priorities;
    select count(*) filter (where s.freed_by is null
               and s.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no))),
        max(s.sealed_at)
    into o.segments, o.rotated_at
    from weir_internal.segments s where s.queue_no = q.no;
    o.bytes := (select sum(pg_total_relation_size(to_regclass(format('weir_internal.q%s_%s', q.no, t))))
                from unnest(array['log_0', 'log_1', 'log_2', 'claims_0', 'claims_1', 'later', 'parked', 'dedup_0',
                                  'dedup_1', 'lines', 'turns']) t);
    o.sent := coalesce(pg_sequence_last_value(format('weir_internal.q%s_ids', q.no)), 0);
    select b.what, b.pid, b.age, b.query into o.blocked_by, o.blocker_pid, o.blocker_age, o.blocker_query
    from weir_internal.rotation_blocker(q) b;
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.name loop
        g := weir_internal.apply_ttl(g);
        o.group_name := g.name;
        select d.waiting, d.claimed, d.delayed, d.parked, d.dead, d.oldest, d.delivered, d.exact
        into o.waiting, o.claimed, o.delayed, o.parked, o.dead, v_oldest, o.delivered, o.exact
        from weir_internal.group_depth(q, g) d;
        o.oldest_age := weir_internal.clock() - v_oldest;
        select r.sent_rate, r.delivered_rate into o.sent_rate, o.delivered_rate
        from weir_internal.rates(g, o.sent, o.delivered) r;
        o.held_by := case when g.limited then weir_internal.held_by(q, g) end;
        return next o;
    end loop;
end
$$;

-- weir_internal.stats(queue_name)
-- How each group of a queue stands.
--
-- Parameters:
--   queue_name  the queue
-- Returns: one row a group, see weir.group_stats. Waiting messages are counted by reading their records.
-- Raises: WR001, WR012
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
begin
    perform weir_internal.check_isolation('stats');
    o.queue_name := q.name;
    o.lanes := q.lanes / q.priorities;
    o.segments := (select count(*) from weir_internal.segments s where s.queue_no = q.no and s.freed_by is null
                       and s.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no)));
    o.bytes := (select sum(pg_total_relation_size(format('weir_internal.q%s_%s', q.no, t)))
                from unnest(array['log_0', 'log_1', 'log_2', 'claims_0', 'claims_1', 'later', 'parked']) t);
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.name loop
        g := weir_internal.apply_ttl(g);
        o.group_name := g.name;
        select s.waiting, s.claimed, s.delayed, s.oldest_age into o.waiting, o.claimed, o.delayed, o.oldest_age
        from weir_internal.group_depth(q, g) s;
        execute format('select count(*) from weir_internal.q%s_parked where group_id = $1', q.no)
        into o.parked using g.id;
        o.dead := (select count(*) from weir_internal.dead_letters d where d.queue_no = q.no and d.group_no = g.no);
        return next o;
    end loop;
end
$$;

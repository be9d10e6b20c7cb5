-- weir_log.stats(p_queue), weir_log.ring_segments()
-- How the groups of a queue of this log stand, or of all its queues, in one snapshot. The tables are locked first,
-- since a truncation shows in older snapshots, too; then the states of the ring are read, and then what counts takes
-- its snapshot: so a remainder is in it where the states say. If a segment was opened meanwhile, it looks again. Of a
-- queue that is moving here, what the log that it is leaving has still is added.
--
-- Parameters:
--   p_queue  name of the queue; null = all
-- Returns: stats: one row a group, see weir.group_stats. ring_segments: the segment that each table of the ring holds;
-- -1: none.
-- Raises: WR001, WR012, WR019
-- Locks: ACCESS SHARE on the tables that hold messages, until the transaction ends.
create or replace function weir_log.stats(p_queue text)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    m weir_internal.queues;
    v_queue int;
    v_segments bigint[];
    v_rows weir.group_stats[];
    o weir.group_stats;
begin
    perform weir_internal.check_isolation('stats');
    if p_queue is not null then
        v_queue := (weir_log.find_queue(p_queue)).no;
    else
        perform weir_log.fail_queue(q.name)
        from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no
        where l.schema_name = 'weir_log'
            and q.origin <> array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid] limit 1;
    end if;
    lock table weir_log.log_0, weir_log.log_1, weir_log.log_2, weir_log.rest, weir_log.claims_0, weir_log.claims_1,
        weir_log.delayed, weir_log.parked, weir_log.key_queues, weir_log.key_turns in access share mode;
    o := weir_log.log_figures(p_queue);
    loop
        v_segments := weir_log.ring_segments();
        v_rows := array(
            select row((d.s).queue_name, (d.s).group_name, (d.s).waiting, (d.s).expired, (d.s).claimed, (d.s).delayed,
                (d.s).parked, (d.s).dead, (d.s).oldest_age, (d.s).exact, coalesce(r.rate, 0), (d.s).delivered_rate,
                (d.s).delivered_at, (d.s).expiries, (d.s).hot_key, (d.s).hot_key_share, (d.s).held_by, (d.s).lanes,
                o.log, coalesce(h.n, 0), o.segments, o.bytes,
                coalesce('lock of process ' || k.pid || ' of ' || k.role_name, o.blocked_by),
                coalesce(k.pid, o.blocker_pid), case when k.pid is null then o.blocker_age else k.age end,
                case when k.pid is null then o.blocker_query else k.query end)::weir.group_stats
            from weir_log.depths(v_queue, v_segments) d
            left join weir_log.sent_rates(v_queue) r on r.queue_no = d.queue_no
            left join (select w.holder_group, count(*) as n from weir_log.segments w where w.freed_by is null
                       group by w.holder_group) h on h.holder_group = d.group_no
            left join (select distinct on (l.group_no) l.* from weir_internal.lock_holders() l
                       order by l.group_no, l.age desc) k on k.group_no = d.group_no);
        exit when not exists (
            select from unnest(v_segments, weir_log.ring_segments()) u (before, after)
            where u.after > u.before);
    end loop;
    for m in
        select w.* from weir_internal.queues w
        join weir_internal.logs l on l.no = w.log_no and l.schema_name = 'weir_log'
        where w.moving_from is not null and w.no = coalesce(v_queue, w.no)
    loop
        execute format('select %s.add_depths($1, $2)', weir_internal.moving_logs(m, 1)) into v_rows using m, v_rows;
    end loop;
    return query select * from unnest(v_rows);
end
$$;
create or replace function weir_log.ring_segments()
returns bigint[]
language plpgsql
as $$
declare
    v_all bigint[] := array[
        pg_sequence_last_value('weir_log.log_0_segment'), pg_sequence_last_value('weir_log.log_1_segment'),
        pg_sequence_last_value('weir_log.log_2_segment')];
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
begin
    return array(select case when n <= v_hi then n else -1 end from unnest(v_all) with ordinality u (n, i) order by i);
end
$$;

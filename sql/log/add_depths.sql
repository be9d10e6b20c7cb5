-- weir_log.add_depths(q, p_rows), weir_log.depths_here(q)
-- add_depths: adds to what stats tells of a queue what this log, which the queue is leaving, has of it. depths_here:
-- that alone, all groups in one snapshot, as weir_log.stats tells it.
--
-- Parameters:
--   q       the queue
--   p_rows  rows of stats, of this queue and of others
-- Returns: add_depths: the rows; depths_here: one row a group.
-- Raises: none
-- Locks: ACCESS SHARE on the tables that hold messages, until the transaction ends.
create or replace function weir_log.add_depths(q weir_internal.queues, p_rows weir.group_stats[])
returns weir.group_stats[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    s weir.group_stats;
    o weir.group_stats;
begin
    for s in select * from weir_log.depths_here(q) loop
        for i in 1 .. cardinality(p_rows) loop
            o := p_rows[i];
            continue when o.queue_name <> s.queue_name or o.group_name <> s.group_name;
            o.waiting := o.waiting + s.waiting;
            o.expired := o.expired + s.expired;
            o.claimed := o.claimed + s.claimed;
            o.delayed := o.delayed + s.delayed;
            o.parked := o.parked + s.parked;
            o.oldest_age := greatest(o.oldest_age, s.oldest_age);
            o.exact := o.exact and s.exact;
            o.delivered_rate := o.delivered_rate + s.delivered_rate;
            o.delivered_at := greatest(o.delivered_at, s.delivered_at);
            o.expiries := o.expiries + s.expiries;
            o.hot_key := coalesce(s.hot_key, o.hot_key);
            o.hot_key_share := coalesce(s.hot_key_share, o.hot_key_share);
            o.held_by := coalesce(o.held_by, s.held_by);
            p_rows[i] := o;
        end loop;
    end loop;
    return p_rows;
end
$$;
create or replace function weir_log.depths_here(q weir_internal.queues)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_segments bigint[];
    v_rows weir.group_stats[];
begin
    lock table weir_log.log_0, weir_log.log_1, weir_log.log_2, weir_log.rest, weir_log.claims_0, weir_log.claims_1,
        weir_log.delayed, weir_log.parked, weir_log.key_queues, weir_log.key_turns in access share mode;
    loop
        v_segments := weir_log.ring_segments();
        v_rows := array(select d.s from weir_log.depths(q.no, v_segments) d);
        exit when not exists (
            select from unnest(v_segments, weir_log.ring_segments()) u (before, after) where u.after > u.before);
    end loop;
    return query select * from unnest(v_rows);
end
$$;

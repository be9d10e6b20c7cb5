-- weir_log.rotate_jobs(p_bytes), weir_log.carry_events(p_left, p_open)
-- rotate_jobs: one step of the ring of events of tracked jobs; it also sees to the workflows of the log's queues.
-- carry_events: copies the events of jobs that have not ended, or whose retention is not over, from the older table to
-- the open one. Of what a worker told, the newest is enough. A job that has ended without that anybody said so, because
-- it was acknowledged by a plain ack, is noted to have ended now, and so is kept for its retention.
--
-- Parameters:
--   p_bytes  the ring turns when a table is as large
--   p_left   the older table
--   p_open   the open one
-- Returns: rotate_jobs: how many things it did.
-- Raises: none
-- Locks: as weir_log.turn_ring and weir_log.trim_workflows.
create or replace function weir_log.rotate_jobs(p_bytes bigint default 16777216)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    return weir_log.trim_workflows() + weir_log.turn_ring('jobs', p_bytes,
        coalesce((select max(job_retention) from weir_internal.queues), interval '0'));
end
$$;
create or replace function weir_log.carry_events(p_left text, p_open text)
returns void
language plpgsql
as $$
begin
    execute format(
        'with begun as materialized (
             select o.queue_no, o.id, o.txid,
                 not exists (select from %1$s e where e.queue_no = o.queue_no and e.id = o.id and e.what = 2)
                     and not exists (select from %2$s e where e.queue_no = o.queue_no and e.id = o.id and e.what = 2)
                     as asked
             from %1$s o where o.what = 0),
         alive as materialized (
             select q.no as queue_no, s.id
             from (select b.queue_no, array_agg(b.id order by b.id) as ids, array_agg(b.txid order by b.id) as txids
                   from begun b where b.asked group by b.queue_no) b
             join weir_internal.queues q on q.no = b.queue_no
             cross join lateral weir_log.job_state_of(q, b.ids, b.txids) s),
         kept as materialized (
             select b.queue_no, b.id, a.id is null and not e.ended as found_ended
             from begun b
             join weir_internal.queues q on q.no = b.queue_no
             left join alive a on a.queue_no = b.queue_no and a.id = b.id
             cross join lateral (
                 select max(t.at) as at, bool_or(t.what in (2, 3, 5, 6)) as ended
                 from (select * from %1$s l where l.queue_no = b.queue_no and l.id = b.id
                       union all
                       select * from %2$s l where l.queue_no = b.queue_no and l.id = b.id) t) e
             where a.id is not null or not e.ended or e.at >= $1 - q.job_retention)
         insert into %2$s
         select o.* from kept k join %1$s o on o.queue_no = k.queue_no and o.id = k.id
         where o.what <> 1
             or not exists (select from %1$s n
                            where n.queue_no = o.queue_no and n.id = o.id and n.what = 1 and n.at > o.at)
         union all
         select k.queue_no, k.id, 6, $1, null, null, null, null, null from kept k where k.found_ended',
        p_left, p_open)
    using weir_internal.clock();
end
$$;

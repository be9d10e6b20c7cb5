-- weir_internal.adopt_queue(q)
-- Rebuilds a queue that came in a dump. Its log becomes one segment whose records all carry the transaction id 1, which
-- no transaction has: it is in the past of every snapshot, whatever the ids of this cluster, and the order under it is
-- that of the ids. A group's lane goes on after the highest message that it had claimed; what it had not finished up to
-- there is put into `later` or, of an ordered group, into its lines.
--
-- pg_dump reads the sequences after its snapshot, so the rings' states are not trusted: both tables of the claim log
-- are read, and a log table holds the segment that `segments` says. A rollback may leave the states changed, which is
-- of no harm to a queue that nobody can use.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: the queue's administration lock; ACCESS EXCLUSIVE on its tables. Until the transaction ends.
create or replace function weir_internal.adopt_queue(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    g weir_internal.groups;
    v_positions bigint[] := '{}'; -- for each group, by number, how far each lane is claimed
    v_place int := 0;
    v_last_id bigint := pg_sequence_last_value(format('weir_internal.q%s_ids', q.no));
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    perform setval(format('weir_internal.q%s_claims_ring', q.no), 1); -- read both tables
    execute format(
        'create table weir_internal.q%1$s_new_log of weir_internal.log_record;
         create table weir_internal.q%1$s_new_later of weir_internal.later_row', q.no);
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        perform weir_internal.adopt_claims(q, g);
        v_positions := v_positions || weir_internal.adopt_lanes(q, g);
    end loop;
    perform weir_internal.adopt_later(q);
    perform weir_internal.adopt_log(q, array(
        select case when q.retention > interval '0' then 0 else coalesce(min(p), 0) end
        from generate_series(0, q.lanes - 1) l
        left join lateral (select p from unnest(v_positions) with ordinality as u (p, i)
                           where (i - 1) % q.lanes = l) t on true
        group by l order by l));
    execute format(
        'truncate weir_internal.q%1$s_log_0, weir_internal.q%1$s_log_1, weir_internal.q%1$s_log_2,
             weir_internal.q%1$s_claims_0, weir_internal.q%1$s_claims_1, weir_internal.q%1$s_later;
         insert into weir_internal.q%1$s_log_0 select * from weir_internal.q%1$s_new_log;
         insert into weir_internal.q%1$s_later select * from weir_internal.q%1$s_new_later;
         drop table weir_internal.q%1$s_new_log, weir_internal.q%1$s_new_later;
         update weir_internal.q%1$s_parked p set holder = null, due_at = coalesce(p.due_at, weir_internal.clock())
         where p.holder is not null or p.due_at is null and not exists (
             select from weir_internal.q%1$s_parked f
             where f.group_id = p.group_id and f.line = p.line and f.no < p.no);
         drop sequence weir_internal.q%1$s_ids;
         create sequence weir_internal.q%1$s_ids', q.no);
    perform setval(format('weir_internal.q%s_ids', q.no), v_last_id);
    perform weir_internal.start_rings(q);
    perform weir_internal.start_dedup(q) where to_regclass(format('weir_internal.q%s_dedup_ring', q.no)) is not null;
    perform setval(format('weir_internal.q%s_jobs_ring', q.no), weir_internal.to_micros(weir_internal.clock()) * 6 + 1)
    where to_regclass(format('weir_internal.q%s_jobs_ring', q.no)) is not null; -- read both of its tables
    perform setval(format('weir_internal.q%s_cancels', q.no), 1)
    where exists (select from weir_internal.cancellations n where n.queue_no = q.no);
    perform weir_internal.start_backlog(q)
    where to_regclass(format('weir_internal.q%s_backlog_end', q.no)) is not null;
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        perform weir_internal.create_cursors(q, g.no, false);
        perform weir_internal.adopt_cursors(q, g, v_positions[v_place * q.lanes + 1:(v_place + 1) * q.lanes]);
        v_place := v_place + 1;
    end loop;
    update weir_internal.groups set purged = null where queue_no = q.no and purged is not null;
    update weir_internal.queues w set birth = weir_internal.birth_of(w.no) where w.no = q.no returning * into q;
    perform weir_internal.generate_queue_functions(q);
end
$$;

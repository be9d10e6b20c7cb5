-- weir_log.trim_workflows(), weir_log.trim_cancellations()
-- trim_workflows: goes on with workflows of which a job was acknowledged by a plain ack, and forgets those that ended
-- longer ago than their queue's job_retention. trim_cancellations: forgets cancellations of jobs that nobody has before
-- him any more. Both see to the queues of this log, and to some of what there is at each call.
--
-- Returns: how many things it did.
-- Raises: what enqueueing raises
-- Locks: trim_workflows: as weir_log.end_step, tried; both: rows that they delete, until the transaction ends.
create or replace function weir_log.trim_workflows()
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    q weir_internal.queues;
    v_count int := 0;
    v_deleted int;
begin
    if not exists (select from weir_internal.workflows) then
        return 0;
    end if;
    for q in
        select w.* from (select distinct f.queue_no from weir_internal.workflows f where f.ended_at is null) n
        join weir_internal.queues w on w.no = n.queue_no
        where w.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
    loop
        v_count := v_count + weir_log.end_lost_steps(q, 2, 100);
    end loop;
    delete from weir_internal.workflows where no = any(array(
        select f.no from weir_internal.workflows f
        join weir_internal.queues w on w.no = f.queue_no
        where w.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
            and f.ended_at < weir_internal.clock() - w.job_retention
        order by f.ended_at limit 10 for update of f skip locked));
    get diagnostics v_deleted = row_count;
    return v_count + v_deleted;
end
$$;
create or replace function weir_log.trim_cancellations()
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    q weir_internal.queues;
    v_ids bigint[];
    v_txids xid8[];
    v_count int := 0;
    v_deleted int;
begin
    for q in
        select w.* from (select distinct c.queue_no from weir_internal.cancellations c) n
        join weir_internal.queues w on w.no = n.queue_no
        where w.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
    loop
        select array_agg(c.id), array_agg(c.txid) into v_ids, v_txids
        from (select * from weir_internal.cancellations n where n.queue_no = q.no order by random() limit 100) c;
        delete from weir_internal.cancellations c
        where c.queue_no = q.no and c.id = any(v_ids)
            and c.id not in (select s.id from weir_log.job_state_of(q, v_ids, v_txids) s);
        get diagnostics v_deleted = row_count;
        v_count := v_count + v_deleted;
    end loop;
    return v_count;
end
$$;

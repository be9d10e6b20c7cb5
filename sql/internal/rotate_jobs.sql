-- weir_internal.rotate_jobs(q)
-- One step of the ring of events of a queue's tracked jobs, where it has one. It also forgets cancellations of jobs
-- that nobody holds any more, goes on with workflows of which a job was acknowledged by a plain ack, and forgets those
-- that ended longer ago than the retention.
--
-- Parameters:
--   q  the queue, whose administration lock the caller holds
-- Returns: how many things it did.
-- Raises: none
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table that was left, tried for 20 ms.
create or replace function weir_internal.rotate_jobs(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_cancels text := format('weir_internal.q%s_cancels', q.no);
    v_ids bigint[];
    v_txids xid8[];
begin
    if pg_sequence_last_value(v_cancels) > 0 then
        select array_agg(c.id), array_agg(c.txid) into v_ids, v_txids
        from (select * from weir_internal.cancellations where queue_no = q.no order by random() limit 100) c;
        execute format(
            'delete from weir_internal.cancellations where queue_no = $1 and id = any($2)
                 and id not in (select s.id from weir_internal.q%s_standing($2, $3) s)', q.no)
        using q.no, v_ids, v_txids;
        if not exists (select from weir_internal.cancellations where queue_no = q.no) then
            perform setval(v_cancels, 0); -- nobody cancels: that takes the lock that the caller holds
        end if;
    end if;
    if exists (select from weir_internal.workflows where queue_no = q.no and ended_at is null) then
        perform weir_internal.end_lost_steps(q, 2, 100);
    end if;
    delete from weir_internal.workflows where no = any(array(
        select w.no from weir_internal.workflows w
        where w.queue_no = q.no and w.ended_at < weir_internal.clock() - q.job_retention
        order by w.ended_at limit 10));
    return weir_internal.turn_ring(q.no, 'jobs', q.job_retention);
end
$$;

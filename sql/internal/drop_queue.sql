-- weir_internal.drop_queue(p_queue)
-- Drops a queue: its rows of the catalogue, with its groups, dead letters, bindings and gates. What the log, the claim
-- log, `delayed` and key queues hold of it is no one's from then on: numbers are not given again, so nothing finds it,
-- and rotation counts a record as consumed, and a claim as finished, whose queue or group is not there. So a drop
-- touches nothing that other queues use, however much there is.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: nothing.
-- Raises: WR001, WR019
-- Locks: with gates, the lock of rights; the queue's administration, the limit locks of limited groups and the settling
-- locks of all: it waits for transactions that have given messages back. Until the transaction ends.
create or replace function weir_internal.drop_queue(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    g weir_internal.groups;
begin
    perform pg_advisory_xact_lock(weir_internal.rights_lock()) where weir_internal.has_gates(p_queue);
    q := weir_internal.lock_queue(p_queue);
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no)) where g.limited;
        perform pg_advisory_xact_lock(weir_internal.settle_lock(g.no));
        perform weir_internal.end_rate(g);
    end loop;
    perform weir_internal.drop_gates(p_queue, true) where weir_internal.has_gates(p_queue);
    delete from weir_internal.keyed_queues where queue_no = q.no;
    delete from weir_internal.queues where no = q.no;
    perform weir_internal.end_backlog(q);
end
$$;

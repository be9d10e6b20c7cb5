-- weir_internal.cancel(queue_name, p_id, p_reason)
-- Cancels a job. While it holds the locks of the lanes nobody claims in them, so that the job is either with a consumer
-- already or will never be.
--
-- Parameters:
--   queue_name  the queue
--   p_id        the job: its message, tracked or not
--   p_reason    why; null = no reason
-- Returns: 0 = it has ended, or is unknown; 1 = it waited, and will not run; 2 = it is running.
-- Raises: WR001, WR006, WR012
-- Locks: the queue's administration lock and the locks of all its lanes, until the transaction ends: it waits for
-- transactions that are receiving.
create or replace function weir_internal.cancel(queue_name text, p_id bigint, p_reason text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    v_txid xid8;
    v_state text;
    v_job weir_internal.later_row;
    m weir.stored_message;
begin
    perform weir_internal.check_isolation('cancel');
    if p_id is null then
        raise exception 'the id of a job of queue "%" is null', queue_name
            using errcode = 'WR006', hint = 'Give an id that enqueue returned.';
    end if;
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    perform setval(format('weir_internal.q%s_cancels', q.no), 1);
    perform weir_internal.lock_lanes(q, g) from (
        select * from weir_internal.groups where queue_no = q.no order by no) g;
    v_txid := weir_internal.sent_by(q, p_id);
    if v_txid is null then
        return 0;
    end if;
    execute format('select state from weir_internal.q%s_standing(array[$1], array[$2])', q.no)
    into v_state using p_id, v_txid;
    if v_state is null then
        return 0;
    end if;
    insert into weir_internal.cancellations (queue_no, id, txid, at, reason)
    values (q.no, p_id, v_txid, weir_internal.clock(), p_reason)
    on conflict (queue_no, id) do nothing;
    if found then
        select * into m from weir_internal.get(queue_name, array[p_id]);
        v_job := row(null, null, p_id, null, null, m.key, m.payload, m.headers, m.enqueued_at, null);
        perform weir_internal.end_jobs(q, array[v_job], 3, null, p_reason);
    end if;
    return case when v_state = 'running' then 2 else 1 end;
end
$$;

-- weir_log.cancel(p_queue, p_id, p_reason), weir_log.lock_job(q, p_lane)
-- cancel: cancels a job. lock_job: keeps everybody from claiming a message that stands in a lane, so that it is either
-- with a consumer already or will never be. A receive that is plain looks for cancellations before it has the lane's
-- lock; the cursor that lock_job stores anew makes it look again.
--
-- Parameters:
--   p_queue   name of the queue
--   p_id      the job: its message, tracked or not
--   p_reason  why; null = no reason
--   q         the queue
--   p_lane    the message's lane; null: it stands in none
-- Returns: cancel: 'cancelled': it waited, and will not run; 'running': it is running; 'ended': it has ended, or is
-- unknown. lock_job: nothing.
-- Raises: WR001, WR006, WR012, WR019
-- Locks: the queue's administration lock, and of each group the lock of its limits and the cursors of two lanes, until
-- the transaction ends: it waits for transactions that are receiving there.
create or replace function weir_log.cancel(p_queue text, p_id bigint, p_reason text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    f record;
    v_state text;
begin
    perform weir_internal.check_isolation('cancel');
    if p_id is null then
        raise exception 'the id of a job of queue "%" is null', p_queue
            using errcode = 'WR006', hint = 'Give an id that enqueue returned.';
    end if;
    perform pg_advisory_xact_lock(weir_internal.admin_lock(q.no));
    q := weir_log.find_queue(p_queue); -- it may have got lanes meanwhile
    f := weir_log.find_job(q, p_id);
    if f.txid is null then
        return 'ended';
    end if;
    perform weir_log.lock_job(q, f.lane);
    v_state := (select s.state from weir_log.job_state_of(q, array[p_id], array[f.txid]) s);
    if v_state is null then
        return 'ended';
    end if;
    perform weir_log.mark_special(q);
    insert into weir_internal.cancellations (queue_no, id, txid, at, reason)
    values (q.no, p_id, f.txid, weir_internal.clock(), p_reason)
    on conflict (queue_no, id) do nothing;
    if found then
        perform weir_log.end_jobs(q, array[f.message], 3, null, p_reason);
    end if;
    return case when v_state = 'running' then 'running' else 'cancelled' end;
end
$$;
create or replace function weir_log.lock_job(q weir_internal.queues, p_lane int)
returns void
language plpgsql
as $$
declare
    g weir_internal.groups;
    c weir_internal.claim;
begin
    for g in select * from weir_internal.groups w where w.queue_no = q.no and w.limited order by w.no loop
        perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no));
    end loop;
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        perform pg_advisory_xact_lock(weir_internal.lane_lock(g.no, -1, 1));
        continue when p_lane is null;
        perform pg_advisory_xact_lock(weir_internal.lane_lock(g.no, p_lane, 1));
        c := weir_log.cursor(g, p_lane, 1);
        for i in 0 .. coalesce(c.width, 0) - 1 loop
            perform pg_advisory_xact_lock(weir_internal.lane_lock(g.no, p_lane, c.width + i));
        end loop;
        if p_lane = 0 and c.width is null then
            perform weir_log.move_cursor(c);
        end if;
    end loop;
end
$$;

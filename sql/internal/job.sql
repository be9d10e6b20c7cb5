-- weir_internal.job(queue_name, p_id)
-- How a tracked job stands. That it has ended is noted where it ended by finish, cancel or as a dead letter; otherwise
-- it is found out by looking for it.
--
-- Parameters:
--   queue_name  the queue
--   p_id        the job
-- Returns: one row, or none when it is not tracked, or was forgotten.
-- Raises: WR001, WR006
-- Locks: ACCESS SHARE on the queue's tables.
create or replace function weir_internal.job(queue_name text, p_id bigint)
returns setof weir.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    o weir.job_status;
    e weir_internal.job_event;
    s record;
    v_txid xid8;
    v_failed int; -- what the last failure was: 4 or 5
    v_done_at timestamptz;
    v_failed_at timestamptz;
begin
    if p_id is null then
        raise exception 'the id of a job of queue "%" is null', queue_name
            using errcode = 'WR006', hint = 'Give an id that enqueue returned.';
    end if;
    if to_regclass(format('weir_internal.q%s_jobs_ring', q.no)) is null then
        return;
    end if;
    for e in execute format('select * from weir_internal.q%s_events(array[$1]) order by at, what', q.no) using p_id loop
        o.attempt := greatest(o.attempt, e.attempt);
        case e.what
        when 0 then
            o.id := p_id;
            o.kind := e.kind;
            o.enqueued_at := e.at;
            o.run_at := e.data #>> '{}';
            v_txid := e.txid;
        when 1 then
            o.progress := e.data;
            o.progress_at := e.at;
        when 2 then
            o.result := e.data;
            v_done_at := e.at;
        when 3 then
            o.cancelled_at := e.at;
            o.error := e.reason;
        else
            o.error := coalesce(e.reason, o.error);
            v_failed := e.what;
            v_failed_at := e.at;
        end case;
    end loop;
    if o.id is null then
        return;
    end if;
    execute format('select * from weir_internal.q%s_standing(array[$1], array[$2])', q.no) into s using p_id, v_txid;
    o.attempt := coalesce(o.attempt, 0);
    if s.state = 'running' then
        o.attempt := greatest(o.attempt, weir_internal.attempt_of(q, s.claim, p_id));
    end if;
    o.state := case
        when s.state is not null then s.state
        when o.cancelled_at is not null then 'cancelled'
        when v_done_at is not null then 'done'
        when v_failed = 5 then 'failed'
        else 'done' end;
    o.finished_at := case o.state
        when 'done' then v_done_at
        when 'failed' then v_failed_at
        when 'cancelled' then coalesce(v_done_at, o.cancelled_at) end;
    return next o;
end
$$;

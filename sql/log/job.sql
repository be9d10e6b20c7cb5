-- weir_log.job(p_queue, p_id)
-- How a tracked job stands. That it has ended is noted where it ended by finish, cancel or as a dead letter; otherwise
-- it is found out by looking for it.
--
-- Parameters:
--   p_queue  name of the queue
--   p_id     the job
-- Returns: one row, or none when it is not tracked, or was forgotten.
-- Raises: WR001, WR006, WR019
-- Locks: ACCESS SHARE on the log, the claim log and the ring of events.
create or replace function weir_log.job(p_queue text, p_id bigint)
returns setof weir.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    o weir.job_status;
    e weir_internal.job_event;
    s record;
    v_txid xid8;
    v_last int;         -- how it ended the last time that anybody said so: an event's `what`
    v_at timestamptz;   -- of its newest event
    v_failed int;       -- what the last failure was: 4 or 5
    v_done_at timestamptz;
    v_failed_at timestamptz;
begin
    if p_id is null then
        raise exception 'the id of a job of queue "%" is null', p_queue
            using errcode = 'WR006', hint = 'Give an id that enqueue returned.';
    end if;
    for e in select * from weir_log.job_events(q, array[p_id]) order by at, what loop
        o.attempt := greatest(o.attempt, e.attempt);
        v_at := e.at;
        v_last := case when e.what in (2, 3, 5, 6) then e.what else v_last end;
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
        when 6 then
            null;
        else
            o.error := coalesce(e.reason, o.error);
            v_failed := e.what;
            v_failed_at := e.at;
        end case;
    end loop;
    if o.id is null then
        return;
    end if;
    select * into s from weir_log.job_state_of(q, array[p_id], array[v_txid]);
    if s.state is null and v_last is not null and v_at < weir_internal.clock() - q.job_retention then
        return;
    end if;
    o.attempt := coalesce(o.attempt, 0);
    if s.state = 'running' then
        o.attempt := greatest(o.attempt, weir_log.attempt_of(q, s.claim, p_id));
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

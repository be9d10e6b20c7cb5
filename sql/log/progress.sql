-- weir_log.progress(p_queue, p_claim, p_id, p_progress, p_lease), weir_log.attempt_of(q, p_claim, p_id)
-- progress: notes how far a job is, if it is tracked, and tells whether it was cancelled. attempt_of: which delivery of
-- a message a claim is.
--
-- Parameters:
--   p_queue, q  the queue
--   p_claim     the claim
--   p_id        the job
--   p_progress  what to tell; null = nothing
--   p_lease     null, or new time for the claim, from now
-- Returns: progress: whether to go on; attempt_of: 1 for the first, null when the claim is gone.
-- Raises: progress: WR001, WR006, WR008, WR009, WR010, WR011, WR012, WR019; both: WR016
-- Locks: with a lease the claim's advisory lock, until the transaction ends; ROW EXCLUSIVE on the ring of events.
create or replace function weir_log.progress(
    p_queue text, p_claim bigint, p_id bigint, p_progress jsonb, p_lease interval)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    s record;
begin
    perform weir_internal.check_settle('progress', p_claim, array[p_id]);
    if pg_column_size(p_progress) > q.message_bytes_max then
        raise exception 'the progress of a job of queue "%" has % octets, the limit is %',
            q.name, pg_column_size(p_progress), q.message_bytes_max
            using errcode = 'WR008', hint = 'Tell less, or a reference to what is kept elsewhere.';
    end if;
    s := weir_log.held_claim(q, p_claim, array[p_id]);
    if p_id <@ (s.done + s.taken) or s.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at % or the job % is finished', p_claim, s.deadline, p_id
            using errcode = 'WR010', hint = 'Stop: it was finished, or is delivered again.';
    end if;
    if p_lease is not null then
        perform weir_log.extend(p_queue, p_claim, p_lease);
    end if;
    if p_progress is not null then
        perform weir_log.append_job_event(array(
            select row(q.no, p_id, 1, weir_internal.clock(), null, null, m.attempts, p_progress, null)
                ::weir_internal.job_event
            from unnest(weir_log.messages_of(q, s.parts, s.asked, 0, null)) m
            where m.headers -> 'job' @> '{"tracked": true}'));
    end if;
    return not exists (select from weir_internal.cancellations c where c.queue_no = q.no and c.id = p_id);
end
$$;
create or replace function weir_log.attempt_of(q weir_internal.queues, p_claim bigint, p_id bigint)
returns int
language plpgsql
as $$
declare
    s record := weir_log.claim_state(p_claim);
    v_attempt int;
begin
    if s.parts is null and q.moving_from is not null
        and q.origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid] then
        execute format('select %s.attempt_of($1, $2, $3)', weir_internal.moving_logs(q, 1))
        into v_attempt using q, p_claim, p_id;
        return v_attempt;
    elsif s.parts is null then
        return null;
    end if;
    return (select m.attempts
            from unnest(weir_log.messages_of(q, s.parts, int8multirange(int8range(p_id, p_id + 1)), 0, null)) m);
end
$$;

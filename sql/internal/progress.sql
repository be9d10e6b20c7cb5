-- weir_internal.progress(p_queue, p_claim, p_id, p_progress, p_lease)
-- Notes how far a job is, where it is tracked, and tells whether it was cancelled.
--
-- Parameters:
--   p_queue     queue number
--   p_claim     the claim
--   p_id        the job
--   p_progress  what to note; null = nothing
--   p_lease     null, or new time for the claim, from now
-- Returns: true = go on, false = it was cancelled.
-- Raises: WR006, WR008, WR009, WR010, WR011, WR012
-- Locks: ROW EXCLUSIVE on the ring of events; with a lease, the claim's advisory lock: until the transaction ends.
create or replace function weir_internal.progress(
    p_queue int, p_claim bigint, p_id bigint, p_progress jsonb, p_lease interval)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    s record;
begin
    perform weir_internal.check_isolation('progress');
    select * into q from weir_internal.queues where no = p_queue;
    if p_claim is null or p_id is null then
        raise exception 'progress of claim %, job %', coalesce(p_claim::text, 'null'), coalesce(p_id::text, 'null')
            using errcode = 'WR006', hint = 'Give the claim_id and the id that receive returned.';
    end if;
    if pg_column_size(p_progress) > q.message_bytes_max then
        raise exception 'the progress of a job of queue "%" has % octets, the limit is %',
            q.name, pg_column_size(p_progress), q.message_bytes_max
            using errcode = 'WR008', hint = 'Tell less, or a reference to what is kept elsewhere.';
    end if;
    select * into s from weir_internal.claim_state(p_queue, p_claim);
    if not (s.c).ids @> p_id then
        raise exception 'claim % does not hold the job %', p_claim, p_id
            using errcode = 'WR011', hint = 'Give the job with the claim_id that it came with.';
    end if;
    if s.taken or s.done @> p_id or (s.c).deadline <= weir_internal.clock() then
        raise exception 'claim % ended at % or the job % is finished', p_claim, (s.c).deadline, p_id
            using errcode = 'WR010', hint = 'Stop: it was finished, or is delivered again.';
    end if;
    if p_lease is not null then
        perform weir_internal.extend_claim(p_queue, p_claim, p_lease);
    end if;
    if p_progress is not null and to_regclass(format('weir_internal.q%s_jobs_ring', p_queue)) is not null then
        execute format(
            'select weir_internal.q%1$s_note(array(
                 select row($1, 1, $2, null, null, m.attempts + $3, $4, null)::weir_internal.job_event
                 from weir_internal.claim_messages($5, $6, int8multirange(int8range($1, $1 + 1))) m
                 where m.headers -> ''job'' @> ''{"tracked": true}''))', p_queue)
        using p_id, weir_internal.clock(), (s.c).attempt, p_progress, q, s.c;
    end if;
    return not exists (select from weir_internal.cancellations c where c.queue_no = p_queue and c.id = p_id);
end
$$;

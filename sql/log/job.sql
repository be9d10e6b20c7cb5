-- weir_log.job(p_queue, p_id), weir_log.job_statuses(q, p_ids)
-- How tracked jobs stand. That one has ended is noted where it ended by finish, cancel or as a dead letter; otherwise
-- it is found out by looking for it. What is noted is read once more after that: who looked found a job ended that was
-- finished since, and is to tell with what.
--
-- Parameters:
--   p_queue, q   the queue
--   p_id, p_ids  the job, or jobs
-- Returns: one row a job; none of one that is not tracked, or was forgotten.
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
begin
    if p_id is null then
        raise exception 'the id of a job of queue "%" is null', p_queue
            using errcode = 'WR006', hint = 'Give an id that enqueue returned.';
    end if;
    return query select * from weir_log.job_statuses(q, array[p_id]);
end
$$;
create or replace function weir_log.job_statuses(q weir_internal.queues, p_ids bigint[])
returns setof weir.job_status
language plpgsql
as $$
#variable_conflict use_column
declare
    v_ids bigint[];
    v_txids xid8[];
    v_states jsonb; -- of each job that has not ended: its state and the claim
    v_events weir_internal.job_event[];
begin
    select array_agg(o.id), array_agg(o.txid) into v_ids, v_txids
    from (select distinct on (e.id) e.id, e.txid from weir_log.job_events(q, p_ids) e
          where e.what = 0 order by e.id) o;
    v_states := (
        select jsonb_object_agg(s.id, jsonb_build_object('state', s.state, 'claim', s.claim))
        from weir_log.job_state_of(q, v_ids, v_txids) s);
    v_events := array(
        select row(e.*)::weir_internal.job_event from weir_log.job_events(q, v_ids) e order by e.at, e.what);
    return query
    with told as (
        select e.id,
            max(e.kind) as kind,
            coalesce(max(e.attempt), 0) as attempt,
            max(e.at) as at,
            bool_or(e.what in (2, 3, 5, 6)) as has_ended,
            min(e.at) filter (where e.what = 0) as enqueued_at,
            min(e.data #>> '{}') filter (where e.what = 0)::timestamptz as run_at,
            (array_agg(e.data order by e.i desc) filter (where e.what = 1))[1] as progress,
            max(e.at) filter (where e.what = 1) as progress_at,
            (array_agg(e.data order by e.i desc) filter (where e.what = 2))[1] as result,
            max(e.at) filter (where e.what = 2) as done_at,
            max(e.at) filter (where e.what = 3) as cancelled_at,
            (array_agg(e.what order by e.i desc) filter (where e.what in (4, 5)))[1] as failed,
            max(e.at) filter (where e.what in (4, 5)) as failed_at,
            (array_agg(e.reason order by e.i desc)
                filter (where e.what = 3 or e.what in (4, 5) and e.reason is not null))[1] as error
        from unnest(v_events) with ordinality e (queue_no, id, what, at, txid, kind, attempt, data, reason, i)
        where e.id = any(v_ids)
        group by e.id)
    select t.id, t.kind, k.state,
        case when k.state = 'running' then greatest(t.attempt, weir_log.attempt_of(q, s.claim, t.id))
             else t.attempt end,
        t.progress, t.result, t.error, t.enqueued_at, t.run_at, t.progress_at,
        case k.state
            when 'done' then t.done_at
            when 'failed' then t.failed_at
            when 'cancelled' then coalesce(t.done_at, t.cancelled_at) end,
        t.cancelled_at
    from told t
    cross join lateral (
        select v_states -> t.id::text ->> 'state' as state, (v_states -> t.id::text ->> 'claim')::bigint as claim) s
    cross join lateral (
        select case
            when s.state is not null then s.state
            when t.cancelled_at is not null then 'cancelled'
            when t.done_at is not null then 'done'
            when t.failed = 5 then 'failed'
            else 'done' end as state) k
    where s.state is not null or not t.has_ended or t.at >= weir_internal.clock() - q.job_retention;
end
$$;

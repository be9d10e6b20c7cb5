-- weir_log.enqueue(p_queue, p_kinds, p_args, p_keys, p_headers, p_due, p_delay, p_priority, p_unique_keys, ...),
-- weir_log.enqueue_jobs(q, ...)
-- Sends jobs: messages with the header "kind", and, of tracked ones and of those of a chain, a batch or a workflow, the
-- header "job". enqueue is called from outside, enqueue_jobs where the queue is read already.
--
-- Parameters:
--   p_queue, q     the queue
--   p_kinds        one a job: what handles it
--   p_args         one a job
--   p_keys         null, or one a job (null elements allowed)
--   p_headers      null, or one a job (null elements allowed)
--   p_due          null, or one a job: not delivered before (null elements allowed)
--   p_delay        null, or how long the others wait
--   p_priority     of all of them; null = 0
--   p_unique_keys  null, or one a job (null elements allowed)
--   p_unique       true: a job without a unique key is unique by its kind and arguments
--   p_unique_for   how long a unique key counts; null = until the job is finished
--   p_tracked      whether what happens to the jobs is kept
--   p_marks        null, or one a job: what its header "job" has besides
-- Returns: one row: ids, in the order of the jobs, that of the job that is there already where one is not sent; and
-- repeated, which those are.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR019, WR020, WR050, 40P01
-- Locks: those of claim_unique_keys; ROW EXCLUSIVE on the open segment (or on `delayed`), until the transaction ends.
create or replace function weir_log.enqueue(
    p_queue text, p_kinds text[], p_args json[], p_keys text[], p_headers jsonb[], p_due timestamptz[],
    p_delay interval, p_priority int, p_unique_keys text[], p_unique boolean, p_unique_for interval,
    p_tracked boolean, out ids bigint[], out repeated boolean[])
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_home(p_queue);
begin
    if q.no is null then
        execute 'select * from ' || weir_internal.call('enqueue', p_queue,
            '$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11')
        into ids, repeated using p_kinds, p_args, p_keys, p_headers, p_due, p_delay, p_priority, p_unique_keys,
            p_unique, p_unique_for, p_tracked;
        return;
    end if;
    select e.ids, e.repeated into ids, repeated
    from weir_log.enqueue_jobs(q, p_kinds, p_args::text[], p_keys, p_headers, p_due, p_delay,
        p_priority, p_unique_keys, p_unique, p_unique_for, p_tracked, null) e;
end
$$;
create or replace function weir_log.enqueue_jobs(
    q weir_internal.queues, p_kinds text[], p_args text[], p_keys text[], p_headers jsonb[], p_due timestamptz[],
    p_delay interval, p_priority int, p_unique_keys text[], p_unique boolean, p_unique_for interval,
    p_tracked boolean, p_marks jsonb[], out ids bigint[], out repeated boolean[])
language plpgsql
as $$
declare
    v_count int := cardinality(p_args);
    v_now timestamptz := weir_internal.clock();
    v_headers jsonb[];
    n record;         -- what is due now
begin
    if p_unique and p_unique_keys is null then
        p_unique_keys := array_fill(null::text, array[v_count]);
    end if;
    perform weir_internal.check_jobs(q.name, coalesce(q.dedup_window::text, ''), p_kinds, p_headers, p_delay,
        p_unique_keys, p_unique_for);
    if p_delay <> interval '0' or p_due is not null then
        p_due := array(select coalesce(u.due, v_now + p_delay)
                       from unnest(p_kinds, p_due) with ordinality u (kind, due, i) order by u.i);
    end if;
    v_headers := array(
        select coalesce(u.headers, '{}') || jsonb_build_object('kind', u.kind)
            || case when p_tracked then jsonb_build_object('job', coalesce(u.mark, '{}') || '{"tracked": true}')
                    when u.mark is not null then jsonb_build_object('job', u.mark) else '{}' end
        from unnest(p_kinds, p_headers, p_marks) with ordinality u (kind, headers, mark, i) order by u.i);
    perform weir_internal.check_batch(q.name, q.message_bytes_max, p_args, null, p_keys, v_headers);
    if p_priority is not null then
        perform weir_internal.check_priority(q.name, q.priorities, p_priority, p_keys is not null);
    end if;
    ids := weir_internal.next_ids(v_count);
    repeated := array_fill(false, array[v_count]);
    if p_unique_keys is not null then
        select u.ids, u.repeated into ids, repeated
        from weir_log.keep_unique(q, ids, p_kinds, p_args, p_unique_keys, p_unique, v_now + p_unique_for) u;
    end if;
    if not false = any(repeated) then
        return;
    end if;
    if q.backlog_max is not null then
        perform weir_log.admit(q, (select count(*) from unnest(repeated) r where not r)::int);
    end if;
    if p_due is not null then
        perform weir_log.delay(q, u.id, u.args, null, u.key, u.headers, u.due - v_now)
        from unnest(ids, repeated, p_args, p_keys, v_headers, p_due) u (id, repeated, args, key, headers, due)
        where not u.repeated and u.due > v_now;
    end if;
    select array_agg(u.id order by u.id) as ids, array_agg(u.args order by u.id) as args,
        case when p_keys is not null then array_agg(u.key order by u.id) end as keys,
        array_agg(u.headers order by u.id) as headers
    into n
    from unnest(ids, repeated, p_args, p_keys, v_headers, p_due) u (id, repeated, args, key, headers, due)
    where not u.repeated and (u.due > v_now) is not true;
    perform weir_log.append_batch(q, n.ids, n.args, null, n.keys, n.headers, coalesce(p_priority, 0))
    where n.ids is not null;
    if p_tracked then
        perform weir_log.append_job_event(array(
            select row(q.no, u.id, 0, v_now, pg_current_xact_id(), u.kind, null, to_jsonb(u.due), null)
                ::weir_internal.job_event
            from unnest(ids, repeated, p_kinds, p_due) u (id, repeated, kind, due) where not u.repeated));
    end if;
end
$$;

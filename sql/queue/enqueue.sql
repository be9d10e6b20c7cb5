-- enqueue
-- Template of weir_internal."enqueue:<queue>": sends jobs: messages with the header "kind", and, of tracked ones and of
-- those of a chain, a batch or a workflow, the header "job". Part of the right to produce.
--
-- Parameters:
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
-- Raises: WR006, WR007, WR008, WR012, WR019, WR020, WR050, 40P01
-- Locks: those of <q>_hold; ROW EXCLUSIVE on the open segment (or on `later`), until the transaction ends.
insert into weir_internal.templates (name, body) values ('enqueue', $template$
create or replace function weir_internal."enqueue:{name}"(
    p_kinds text[], p_args jsonb[], p_keys text[], p_headers jsonb[], p_due timestamptz[], p_delay interval,
    p_priority int, p_unique_keys text[], p_unique boolean, p_unique_for interval, p_tracked boolean, p_marks jsonb[],
    out ids bigint[], out repeated boolean[])
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $body$
declare
    v_count int := cardinality(p_args);
    v_now timestamptz := weir_internal.clock();
    v_headers jsonb[];
    v_keys uuid[];    -- digests of unique keys, each once and ascending
    v_first bigint[];
    r weir_internal.log_record;
    n record;         -- what is due now
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if p_unique and p_unique_keys is null then
        p_unique_keys := array_fill(null::text, array[v_count]);
    end if;
    perform weir_internal.check_jobs('{name}', '{dedup_window}', p_kinds, p_headers, p_delay, p_unique_keys,
        p_unique_for);
    if p_delay <> interval '0' or p_due is not null then
        p_due := array(select coalesce(u.due, v_now + p_delay)
                       from unnest(p_kinds, p_due) with ordinality u (kind, due, i) order by u.i);
    end if;
    v_headers := array(
        select coalesce(u.headers, '{}') || jsonb_build_object('kind', u.kind)
            || case when p_tracked then jsonb_build_object('job', coalesce(u.mark, '{}') || '{"tracked": true}')
                    when u.mark is not null then jsonb_build_object('job', u.mark) else '{}' end
        from unnest(p_kinds, p_headers, p_marks) with ordinality u (kind, headers, mark, i) order by u.i);
    perform weir_internal.check_batch('{name}', {message_bytes_max}, p_args, p_keys, v_headers);
    if p_priority is not null then
        perform weir_internal.check_priority('{name}', {priorities}, p_priority, p_keys is not null);
    end if;
    ids := array(select nextval('weir_internal.{q}_ids') from generate_series(1, v_count));
    repeated := array_fill(false, array[v_count]);
    if p_unique_keys is not null then
        select array_agg(t.key order by t.key), array_agg(t.id order by t.key) into v_keys, v_first
        from (
            select d.key, min(d.id) as id
            from (select u.id, weir_internal.job_digest(u.kind, u.args, u.key) as key
                  from unnest(ids, p_kinds, p_args, p_unique_keys) u (id, kind, args, key)
                  where p_unique or u.key is not null offset 0) d
            group by d.key) t;
        if v_keys is not null then
            v_first := weir_internal.{q}_hold(v_keys, v_first, coalesce(v_now + p_unique_for, 'infinity'));
        end if;
        select array_agg(coalesce(f.id, u.id) order by u.id), array_agg(coalesce(f.id <> u.id, false) order by u.id)
        into ids, repeated
        from unnest(ids, p_kinds, p_args, p_unique_keys) u (id, kind, args, key)
        left join unnest(v_keys, v_first) f (key, id)
            on f.key = weir_internal.job_digest(u.kind, u.args, u.key) and (p_unique or u.key is not null);
        if not false = any(repeated) then
            return;
        end if;
    end if;
    --{ {limited}
    if (select max(u.id) from unnest(ids, repeated) u (id, repeated) where not u.repeated)
        > pg_sequence_last_value('weir_internal.{q}_backlog_end') then
        perform weir_internal.admit({no}, (select count(*) from unnest(repeated) u where not u)::int);
    end if;
    --}
    if p_due is not null then
        perform weir_internal.{q}_delay(u.id, u.args, u.key, u.headers, u.due - v_now)
        from unnest(ids, repeated, p_args, p_keys, v_headers, p_due) u (id, repeated, args, key, headers, due)
        where not u.repeated and u.due > v_now;
    end if;
    select array_agg(u.id order by u.id) as ids, array_agg(u.args order by u.id) as args,
        case when p_keys is not null then array_agg(u.key order by u.id) end as keys,
        array_agg(u.headers order by u.id) as headers
    into n
    from unnest(ids, repeated, p_args, p_keys, v_headers, p_due) u (id, repeated, args, key, headers, due)
    where not u.repeated and (u.due > v_now) is not true;
    if cardinality(n.ids) = 1 then
        r.id := n.ids[1];
        r.n := 1;
        r.lane := case when n.keys[1] is not null then weir_internal.lane_of(n.keys[1], {level_lanes})
            else coalesce(p_priority, 0) * {level_lanes} + weir_internal.spread(r.id, {level_lanes}) end;
        r.keys := case when n.keys[1] is not null then n.keys end;
        r.headers := n.headers;
        r.payloads := n.args;
        perform weir_internal.{q}_append(r);
    elsif n.ids is not null then
        perform weir_internal.{q}_append_batch(n.ids, n.args, n.keys, n.headers, coalesce(p_priority, 0));
    end if;
    if p_tracked then
        if to_regclass('weir_internal.{q}_jobs_ring') is null then
            perform weir_internal.start_jobs({no});
        end if;
        perform weir_internal.{q}_note(array(
            select row(u.id, 0, v_now, pg_current_xact_id(), u.kind, null, to_jsonb(u.due), null)
                ::weir_internal.job_event
            from unnest(ids, repeated, p_kinds, p_due) u (id, repeated, kind, due) where not u.repeated));
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- finish
-- Template of what those who work at jobs may do with them: weir_internal."finish:<queue>", "progress:<queue>",
-- "snooze:<queue>" and "cancelled:<queue>"; and of "job:<queue>", which those who enqueue jobs may do too.
--
-- Parameters:
--   p_claim     the claim
--   p_ids       jobs of it; snooze: null = all that are left
--   p_results   finish: one a job, null elements allowed
--   p_id        the job
--   p_progress  progress: what to tell
--   p_lease     progress: null, or new time for the claim, from now
--   p_delay     snooze: wait before the next delivery
--   p_claims    cancelled: claims
-- Returns: finish: the jobs that it finished; progress: whether to go on; snooze: how many it gave back; the others
-- rows.
-- Raises: WR001, WR006, WR008, WR009, WR010, WR011, WR012, WR051
-- Locks: the claim's advisory lock, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('finish', $template$
create or replace function weir_internal."finish:{name}"(p_claim bigint, p_ids bigint[], p_results jsonb[])
returns bigint[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    q weir_internal.queues;
    s record;
    v_open int8multirange;
    v_count int;
    v_jobs weir_internal.later_row[];
    v_results jsonb[];
    v_bytes int;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    perform weir_internal.check_isolation('finish');
    select * into q from weir_internal.queues where no = {no};
    if p_claim is null or p_ids is null or array_position(p_ids, null) is not null then
        raise exception 'finish of claim %, jobs %: null', coalesce(p_claim::text, 'null'), p_ids
            using errcode = 'WR006', hint = 'Give the claim_id and the id that receive returned.';
    end if;
    select max(pg_column_size(r)) into v_bytes from unnest(p_results) r;
    if v_bytes > q.message_bytes_max then
        raise exception 'a result of a job of queue "%" has % octets, the limit is %',
            q.name, v_bytes, q.message_bytes_max
            using errcode = 'WR008', hint = 'Keep it elsewhere and give a reference to it.';
    end if;
    if cardinality(p_ids) <= 32 then -- as <q>_settle locks it: from here on its messages stay where they are
        perform pg_advisory_xact_lock_shared(weir_internal.claim_lock({no}, p_claim));
    else
        perform pg_advisory_xact_lock(weir_internal.claim_lock({no}, p_claim));
    end if;
    select * into s from weir_internal.{q}_claim_state(p_claim);
    v_open := (select range_agg(int8range(i, i + 1)) from unnest(p_ids) i where i < 9223372036854775807) - s.done;
    v_count := weir_internal.{q}_settle(p_claim, p_ids, 'ack', null, null);
    if v_count <> weir_internal.count_ids(v_open) then
        raise exception 'some of the jobs % of claim % were finished at this moment', p_ids, p_claim
            using errcode = 'WR051', hint = 'Try again, or finish them one by one.';
    end if;
    if v_count = 0 then
        return '{}';
    end if;
    select array_agg(row(null, null, m.id, null, m.attempts + (s.c).attempt, m.key, m.payload, m.headers,
                         m.enqueued_at, null)::weir_internal.later_row order by m.id),
        array_agg(u.result order by m.id)
    into v_jobs, v_results
    from weir_internal.{q}_claim_messages(s.c, v_open) m
    left join unnest(p_ids, p_results) u (id, result) on u.id = m.id;
    if coalesce(cardinality(v_jobs), 0) <> v_count then
        perform weir_internal.fail_missing(q.name, p_claim, v_open);
    end if;
    perform weir_internal.end_jobs(q, v_jobs, 2, v_results, null);
    return array(select m.id from unnest(v_jobs) m);
end
$body$;
create or replace function weir_internal."progress:{name}"(
    p_claim bigint, p_id bigint, p_progress jsonb, p_lease interval)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.progress({no}, p_claim, p_id, p_progress, p_lease);
end
$body$;
create or replace function weir_internal."snooze:{name}"(p_claim bigint, p_ids bigint[], p_delay interval)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.{q}_settle(p_claim, p_ids, 'release', coalesce(p_delay, '-1 second'), null);
end
$body$;
create or replace function weir_internal."cancelled:{name}"(p_claims bigint[])
returns table (claim_id bigint, id bigint)
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.fail_restored('{name}') where {restored};
    select * from weir_internal.cancelled({no}, p_claims)
$body$;
create or replace function weir_internal."job:{name}"(p_id bigint)
returns setof weir.job_status
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.job('{name}', p_id)
$body$
$template$) on conflict (name) do update set body = excluded.body;

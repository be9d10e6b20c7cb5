-- finish
-- Template of what those who work at jobs may do with them: weir_internal."finish:<queue>", "progress:<queue>",
-- "snooze:<queue>" and "cancelled:<queue>"; and of "job:<queue>", which those who enqueue jobs may do too. Each is a
-- call of what all queues share.
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
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012, WR051
-- Locks: the claim's advisory lock, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('finish', $template$
create or replace function weir_internal."finish:{name}"(p_claim bigint, p_ids bigint[], p_results jsonb[])
returns bigint[]
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.fail_restored('{name}') where {restored};
    select weir_internal.finish({no}, p_claim, p_ids, p_results)
$body$;
create or replace function weir_internal."progress:{name}"(
    p_claim bigint, p_id bigint, p_progress jsonb, p_lease interval)
returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.fail_restored('{name}') where {restored};
    select weir_internal.progress({no}, p_claim, p_id, p_progress, p_lease)
$body$;
create or replace function weir_internal."snooze:{name}"(p_claim bigint, p_ids bigint[], p_delay interval)
returns int
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.fail_restored('{name}') where {restored};
    select weir_internal.settle({no}, p_claim, p_ids, 'release', coalesce(p_delay, '-1 second'), null)
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

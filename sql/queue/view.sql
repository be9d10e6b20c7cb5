-- view
-- Template of what those who consume from a queue or administer it may look at: weir_internal."describe:<queue>",
-- "groups:<queue>", "schedules:<queue>", "workflows:<queue>", "stats:<queue>", "examine:<queue>", "peek:<queue>",
-- "get:<queue>", "claims:<queue>", "parked_keys:<queue>", "delayed:<queue>" and "dead_letters:<queue>", each a call of
-- what all queues share.
--
-- Parameters:
--   p_group   name of the group
--   p_ids     get: the messages
--   p_max     rows at most
--   p_after   where the page before ended: an id, a claim, a key
--   p_lane    parked_keys: likewise, the lane of messages without a key
--   p_before  workflows: only those below this
-- Returns: rows.
-- Raises: WR001, WR003, WR006, WR012, WR016
-- Locks: none
insert into weir_internal.templates (name, body) values ('view', $template$
create or replace function weir_internal."describe:{name}"()
returns setof weir_internal.queues
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.queues where no = {no}
$body$;
create or replace function weir_internal."groups:{name}"()
returns setof weir_internal.groups
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.groups where queue_no = {no}
$body$;
create or replace function weir_internal."schedules:{name}"()
returns setof weir.schedule_status
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $body$
    select s.name, '{name}', s.cron, s.every, s.time_zone, s.missed, s.kind, s.args, s.key, s.headers, s.priority,
        s.is_unique, s.tracked, s.paused, s.next_at, s.last_at, s.last_id, s.error, s.created_at
    from weir_internal.schedules s where s.queue_no = {no} order by s.name
$body$;
create or replace function weir_internal."workflows:{name}"(p_max int, p_before bigint)
returns setof weir.workflow_status
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.list_workflows('{name}', p_max, p_before)
$body$;
create or replace function weir_internal."stats:{name}"()
returns setof weir.group_stats
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.stats('{name}')
$body$;
create or replace function weir_internal."examine:{name}"()
returns setof weir.finding
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.examine_queue('{name}')
$body$;
create or replace function weir_internal."peek:{name}"(p_group text, p_max int)
returns setof weir.message
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.peek('{name}', p_group, p_max)
$body$;
create or replace function weir_internal."get:{name}"(p_ids bigint[])
returns setof weir.stored_message
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.get('{name}', p_ids)
$body$;
create or replace function weir_internal."claims:{name}"(p_group text, p_max int, p_after bigint)
returns setof weir.claim_status
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.claims('{name}', p_group, p_max, p_after)
$body$;
create or replace function weir_internal."parked_keys:{name}"(p_group text, p_max int, p_after text, p_lane int)
returns setof weir.parked_key
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.parked_keys('{name}', p_group, p_max, p_after, p_lane)
$body$;
create or replace function weir_internal."delayed:{name}"(p_group text, p_max int, p_after bigint)
returns setof weir.delayed_message
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.delayed('{name}', p_group, p_max, p_after)
$body$;
create or replace function weir_internal."dead_letters:{name}"(p_group text, p_max int, p_after bigint)
returns table (
    id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int,
    died_at timestamptz, reason text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $body$
    select * from weir_internal.dead_letters('{name}', p_group, p_max, p_after)
$body$
$template$) on conflict (name) do update set body = excluded.body;

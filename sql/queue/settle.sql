-- settle
-- Template of the rest of the right to consume: weir_internal."nack:<queue>", "reject:<queue>",
-- "release:<queue>" and "extend:<queue>".
--
-- Parameters:
--   p_claim   the claim
--   p_ids     messages of it; null = all that are left
--   p_delay   nack: wait before the next delivery; null = the group's backoff
--   p_reason  kept with a dead letter
--   p_lease   extend: new time from now
-- Returns: how many messages it settled; extend: the new deadline.
-- Raises: WR006, WR009, WR010, WR011
-- Locks: the claim's advisory lock, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('settle', $template$
create or replace function weir_internal."nack:{name}"(p_claim bigint, p_ids bigint[], p_delay interval, p_reason text)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.{q}_settle(p_claim, p_ids, 'nack', p_delay, p_reason);
end
$body$;
create or replace function weir_internal."reject:{name}"(p_claim bigint, p_ids bigint[], p_reason text)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.{q}_settle(p_claim, p_ids, 'reject', null, p_reason);
end
$body$;
create or replace function weir_internal."release:{name}"(p_claim bigint, p_ids bigint[])
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.{q}_settle(p_claim, p_ids, 'release', interval '0', null);
end
$body$;
create or replace function weir_internal."extend:{name}"(p_claim bigint, p_lease interval)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $body$
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    return weir_internal.extend_claim({no}, p_claim, p_lease);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

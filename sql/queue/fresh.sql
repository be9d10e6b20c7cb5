-- fresh
-- Template of weir_internal.<q>_fresh: a slot's cursor after its expired claims were looked at. When what next_expiry
-- stood for is finished, the bounds are computed anew; they are stored with the next claim.
--
-- Parameters:
--   p_slot  the slot
--   p_now   time against which leases expire
-- Returns: the cursor.
-- Raises: WR016
-- Locks: ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('fresh', $template$
create or replace function weir_internal.{q}_fresh(p_slot smallint, p_now timestamptz)
returns weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim := weir_internal.{q}_cursor(p_slot);
begin
    if c.next_expiry <= p_now
        and not exists (select from weir_internal.{q}_unfinished(p_slot, c.low, p_now, 1)) then
        select coalesce(min(u.id), c.id), coalesce(min(u.deadline), 'infinity') into c.low, c.next_expiry
        from weir_internal.{q}_unfinished(p_slot, c.low, 'infinity', null) u;
    end if;
    return c;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

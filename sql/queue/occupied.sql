-- occupied
-- Template of weir_internal.<q>_occupied: whether a lane of an ordered group must not be claimed in, because messages
-- of it are with a consumer. A claim older than the group's patience is taken out of the lane first, its messages
-- parked, so that it delays its own keys only. The caller holds the lane's lock, and reads the parked lines after this.
--
-- Parameters:
--   g      the group
--   c      the lane's cursor
--   p_now  the time
-- Returns: true or false.
-- Raises: WR016
-- Locks: the advisory lock of the claim that is parked, tried.
insert into weir_internal.templates (name, body) values ('occupied', $template$
create or replace function weir_internal.{q}_occupied(
    g weir_internal.groups, c weir_internal.claim, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    q weir_internal.queues;
    u weir_internal.claim;
begin
    for u in
        select * from weir_internal.{q}_unfinished(c.slot, c.low, 'infinity', null) t where t.src is null
    loop
        if u.claimed_at + g.patience > p_now then
            return true;
        end if;
        select * into q from weir_internal.queues where no = {no};
        if not weir_internal.park_claim(q, g, u, true) then
            return true;
        end if;
    end loop;
    return false;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- unoccupied
-- Template of weir_internal.<q>_unoccupied: from where on a lane of an ordered group may be claimed in, or that it must
-- not be, because messages of it are with a consumer. A claim older than the group's patience is taken out of the lane
-- first, its messages parked, so that it delays its own keys only. The caller holds the lane's lock, and reads the
-- parked lines after this.
--
-- Parameters:
--   g      the group
--   c      the lane's cursor
--   p_now  the time
-- Returns: the lane's new low-water mark; null: it is occupied.
-- Raises: WR016
-- Locks: the advisory lock of the claim that is parked, tried.
insert into weir_internal.templates (name, body) values ('unoccupied', $template$
create or replace function weir_internal.{q}_unoccupied(
    g weir_internal.groups, c weir_internal.claim, p_now timestamptz)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    q weir_internal.queues;
    u weir_internal.claim;
    v_low bigint := c.id; -- what is unfinished but taken out of the lane stays above it
begin
    for u in
        select * from weir_internal.{q}_unfinished(c.slot, c.low, 'infinity', null)
    loop
        v_low := least(v_low, u.id);
        continue when u.src is not null;
        if u.claimed_at + g.patience > p_now then
            return null;
        end if;
        select * into q from weir_internal.queues where no = {no};
        if not weir_internal.park_claim(q, g, u, true) then
            return null;
        end if;
    end loop;
    return v_low;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- has_new
-- Template of weir_internal.<q>_has_new: whether a lane may have something to claim, asked before its lock is taken: a
-- transaction that goes on after an empty receive must not keep lanes from others.
--
-- Parameters:
--   c       the lane's cursor
--   p_lane  the lane
--   p_now   time against which leases expire
-- Returns: false only when there is nothing.
-- Raises: none
-- Locks: ACCESS SHARE on the open segment.
insert into weir_internal.templates (name, body) values ('has_new', $template$
create or replace function weir_internal.{q}_has_new(c weir_internal.claim, p_lane int, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_hi bigint := pg_sequence_last_value('weir_internal.{q}_log_ring');
    v_new boolean;
begin
    if not c.finished or c.next_expiry <= p_now or c.lo < v_hi then
        return true;
    end if;
    --{ 3
    {if} v_hi % 3 = {k} then
        v_new := exists (select from weir_internal.{q}_log_{k} s
                         where s.lane = p_lane and s.txid >= pg_snapshot_xmax(c.cur))
            or pg_snapshot_xmin(c.cur) < pg_snapshot_xmax(c.cur)
            and exists (select from pg_snapshot_xip(c.cur) x
                        cross join lateral (select from weir_internal.{q}_log_{k} s
                                            where s.lane = p_lane and s.txid = x limit 1) t
                        where pg_visible_in_snapshot(x, weir_internal.snapshot()));
    --}
    end if;
    return v_new;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

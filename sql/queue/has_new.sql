-- has_new
-- Template of weir_internal.<q>_has_new: whether a lane may have something to claim, asked before its lock is taken: a
-- transaction that goes on after an empty receive must not keep lanes from others.
--
-- Parameters:
--   p_slot  group number * (lanes + 1) + lane
--   p_lane  the lane
--   p_now   time against which leases expire
-- Returns: false only when there is nothing, or while the ring of the claim log turns.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the open segment.
insert into weir_internal.templates (name, body) values ('has_new', $template$
create or replace function weir_internal.{q}_has_new(p_slot smallint, p_lane int, p_now timestamptz)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint := pg_sequence_last_value('weir_internal.{q}_claims_ring');
    v_open boolean; -- the cursor says that there is more
    v_lo bigint;
    v_hi bigint;
    v_cur pg_snapshot;
    v_new boolean;
begin
    --{ 2
    {if} v_ring % 2 = 0 and v_ring / 2 % 2 = {k} then
        select not finished or next_expiry <= p_now, lo, cur into v_open, v_lo, v_cur
        from weir_internal.{q}_claims_{k}
        where slot = p_slot and what = 0 order by id desc limit 1;
    --}
    else
        return false;
    end if;
    v_hi := pg_sequence_last_value('weir_internal.{q}_log_ring');
    if v_open is not false or v_lo < v_hi then
        return true;
    end if;
    --{ 3
    {if} v_hi % 3 = {k} then
        v_new := exists (select from weir_internal.{q}_log_{k} s
                         where s.lane = p_lane and s.txid >= pg_snapshot_xmax(v_cur))
            or pg_snapshot_xmin(v_cur) < pg_snapshot_xmax(v_cur)
            and exists (select from pg_snapshot_xip(v_cur) x
                        cross join lateral (select from weir_internal.{q}_log_{k} s
                                            where s.lane = p_lane and s.txid = x limit 1) t
                        where pg_visible_in_snapshot(x, weir_internal.snapshot()));
    --}
    end if;
    return v_new;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

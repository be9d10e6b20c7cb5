-- skip_due
-- Template of weir_internal.<q>_skip_due: moves a group's place in `later` over what became due for other groups, so
-- that no receive has to.
--
-- Parameters:
--   g  the group
-- Returns: whether it moved.
-- Raises: none
-- Locks: the advisory lock of the group's last lane, tried; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('skip_due', $template$
create or replace function weir_internal.{q}_skip_due(g weir_internal.groups)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
    v_slot smallint := g.no * ({lanes} + 1) + {lanes};
    c weir_internal.claim := weir_internal.{q}_cursor(v_slot);
    v_now timestamptz := weir_internal.clock();
    v_cur pg_snapshot;
    v_bound xid8;
begin
    if not exists (select from weir_internal.{q}_later s
                   where (s.due_at, s.id) > (c.due_at, c.due_id) and s.due_at <= v_now)
        or not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot) then
        return false;
    end if;
    c := weir_internal.{q}_cursor(v_slot);
    if v_now <= c.due_at then -- a receive came in between
        return false;
    end if;
    v_bound := pg_current_xact_id_if_assigned();
    v_cur := weir_internal.{q}_reach(v_now);
    if weir_internal.{q}_is_due(g, c, v_now) then
        return false;
    end if;
    c.cur := v_cur;
    c.txid := case when v_bound is null then pg_current_xact_id() end;
    c.due_at := v_now;
    c.due_id := 0;
    return weir_internal.{q}_checkpoint(c) is not null;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

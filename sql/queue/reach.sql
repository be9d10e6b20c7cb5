-- reach
-- Template of weir_internal.<q>_reach: announces up to which time a group is about to claim `later`, and then takes the
-- snapshot that goes with it; see weir_internal.due_at for why in this order.
--
-- Parameters:
--   p_now  the time
-- Returns: the snapshot.
-- Raises: none
-- Locks: none
insert into weir_internal.templates (name, body) values ('reach', $template$
create or replace function weir_internal.{q}_reach(p_now timestamptz)
returns pg_snapshot
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_micros bigint := weir_internal.to_micros(p_now);
begin
    if v_micros > pg_sequence_last_value('weir_internal.{q}_later_clock') then
        perform setval('weir_internal.{q}_later_clock', v_micros);
    end if;
    return weir_internal.snapshot();
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

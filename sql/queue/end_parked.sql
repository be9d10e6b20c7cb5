-- end_parked
-- Template of weir_internal.<q>_end_parked: takes messages that are done with out of their lines; the next of each line
-- steps up. It looks for one range of ids after the other, because a join may be planned as a walk over all
-- that is parked.
--
-- Parameters:
--   p_group    the ordered group, by its id
--   p_ids      the messages; those that are not parked do not matter
--   p_claimed  what their claim held
-- Returns: nothing.
-- Raises: none
-- Locks: the rows, until the transaction ends.
insert into weir_internal.templates (name, body) values ('end_parked', $template$
create or replace function weir_internal.{q}_end_parked(p_group int, p_ids int8multirange, p_claimed int8multirange)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
    r int8range;
    p record;
    v_lines text[];
    v_lanes int[];
begin
    for r in select unnest(p_ids) loop
        for p in
            delete from weir_internal.{q}_parked w
            where w.group_id = p_group and w.id >= lower(r) and w.id < upper(r)
            returning w.line, w.lane
        loop
            v_lines := v_lines || p.line;
            v_lanes := v_lanes || p.lane::int;
        end loop;
    end loop;
    if v_lines is not null then
        perform weir_internal.{q}_step_up(p_group, v_lines, v_lanes, p_claimed);
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- parked_lines
-- Template of weir_internal.<q>_parked_lines: the lines of a lane in which messages of an ordered group are parked. It
-- goes from line to line by the index, because there may be much in each, and in other lanes. The caller holds the
-- lane's lock.
--
-- Parameters:
--   p_group  the group, by its id
--   p_lane   the lane
-- Returns: the lines; none when nothing is parked; null when they are more than 100.
-- Raises: none
-- Locks: ACCESS SHARE on `parked`.
insert into weir_internal.templates (name, body) values ('parked_lines', $template$
create or replace function weir_internal.{q}_parked_lines(p_group int, p_lane int)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_lines text[];
begin
    if not exists (select from weir_internal.{q}_parked p where p.group_id = p_group and p.lane = p_lane) then
        return '{}'; -- as nearly always, for less than the query below
    end if;
    v_lines := array(
        with recursive lines (line) as (
            (select p.line from weir_internal.{q}_parked p
             where p.group_id = p_group and p.lane = p_lane order by p.line limit 1)
            union all
            select (select p.line from weir_internal.{q}_parked p
                    where p.group_id = p_group and p.lane = p_lane and p.line > l.line order by p.line limit 1)
            from lines l where l.line is not null)
        select l.line from lines l where l.line is not null limit 101);
    return case when cardinality(v_lines) <= 100 then v_lines end;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

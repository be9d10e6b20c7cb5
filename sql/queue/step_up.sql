-- step_up
-- Template of weir_internal.<q>_step_up: after heads left their lines, tells of what is at the head now that it may be
-- delivered: it stood behind others, and so has no time.
--
-- A receive may just be parking messages behind what left, which nothing here can see, and does not see yet that it
-- left. So where none is to be seen it leaves a note, a row of the group -p_group, about which the next receive looks
-- again while no other claims in the lane: see <q>_claim_parked. And a message that another transaction finishes at
-- this moment may seem to be at the head still: then the next behind all of the claim steps up.
--
-- Parameters:
--   p_group    the ordered group, by its id
--   p_lines    lines
--   p_lanes    the lane of each
--   p_claimed  what the claim held of which messages left; '{}' where nobody else can have it
-- Returns: nothing.
-- Raises: none
-- Locks: the rows that step up, those that are locked passed over; ROW EXCLUSIVE on `parked`.
insert into weir_internal.templates (name, body) values ('step_up', $template$
create or replace function weir_internal.{q}_step_up(
    p_group int, p_lines text[], p_lanes int[], p_claimed int8multirange)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    l record;
    h record;
    v_no bigint;
begin
    for l in select u.line, min(u.lane) as lane from unnest(p_lines, p_lanes) u (line, lane) group by u.line loop
        select p.due_at, p.id into h from weir_internal.{q}_parked p
        where p.group_id = p_group and p.line = l.line order by p.no limit 1;
        v_no := null;
        if h.id is not null then
            continue when h.due_at is not null and not h.id <@ p_claimed;
            select p.no into v_no from weir_internal.{q}_parked p
            where p.group_id = p_group and p.line = l.line and p.due_at is null and not p.id <@ p_claimed
            order by p.no limit 1 for update skip locked;
        end if;
        if v_no is null then
            insert into weir_internal.{q}_parked (group_id, line, no, lane, id, payload, due_at)
            values (-p_group, l.line, 0, l.lane, 0, 'null', weir_internal.clock());
        else
            update weir_internal.{q}_parked p set due_at = weir_internal.clock()
            where p.group_id = p_group and p.line = l.line and p.no = v_no;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

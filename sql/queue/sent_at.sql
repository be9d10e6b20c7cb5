-- sent_at
-- Template of weir_internal.<q>_sent_at: when the next message of a lane was sent, as one look into the log tells.
-- Only queues with priorities have it.
--
-- Parameters:
--   g       the group
--   p_lane  the lane
-- Returns: the time; when the lane's segment has nothing left, the time that one was opened.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the segment.
insert into weir_internal.templates (name, body) values ('sent_at', $template$
--{ {prioritized}
create or replace function weir_internal.{q}_sent_at(g weir_internal.groups, p_lane int)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim := weir_internal.{q}_cursor((g.no * ({lanes} + 1) + p_lane)::smallint);
    v_at timestamptz;
begin
    if c.finished then
        c.seg := c.lo;
        c.txid := pg_snapshot_xmax(c.cur);
        c.pos := 0;
    end if;
    select s.enqueued_at into v_at from (
        select * from weir_internal.{q}_log_0 t where c.seg % 3 = 0
        union all
        select * from weir_internal.{q}_log_1 t where c.seg % 3 = 1
        union all
        select * from weir_internal.{q}_log_2 t where c.seg % 3 = 2
    ) s
    where s.lane = p_lane and (s.txid, s.id) > (c.txid, c.pos)
    order by s.txid, s.id limit 1;
    if v_at is null then
        select opened_at into v_at from weir_internal.segments where queue_no = {no} and no = c.seg;
    end if;
    return v_at;
end
$body$;
--}
$template$) on conflict (name) do update set body = excluded.body;

-- weir_log.first_cursor(g, p_lane, p_stripe)
-- The cursor of a lane that has none in the claim log: the group's beginning, or the claim log's base, the row of group
-- 0, when that has seen the group.
--
-- Parameters:
--   g         the group
--   p_lane    the lane
--   p_stripe  1 = the lane
-- Returns: the cursor.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.first_cursor(g weir_internal.groups, p_lane int, p_stripe int)
returns weir_internal.claim
language plpgsql
as $$
declare
    c weir_internal.claim;
begin
    select * into c from weir_log.claims_2
    where kind = 'c' and group_no = 0 and lane = 0 and stripe = 1 order by id desc limit 1;
    if not pg_visible_in_snapshot(g.start_by, c.cur) then
        c := g.start;
    end if;
    c.kind := 'c';
    c.queue_no := g.queue_no;
    c.group_no := g.no;
    c.lane := p_lane;
    c.stripe := p_stripe;
    c.low := 0;
    return c;
end
$$;

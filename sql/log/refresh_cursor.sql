-- weir_log.refresh_cursor(g, p_lane, p_stripe, p_now)
-- A cursor after its expired claims were looked at. When what next_expiry stood for is finished, the bounds are
-- computed anew; the caller stores them.
--
-- Parameters:
--   g, p_lane, p_stripe  the cursor
--   p_now                time against which leases expire
-- Returns: the cursor.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.refresh_cursor(g weir_internal.groups, p_lane int, p_stripe int, p_now timestamptz)
returns weir_internal.claim
language plpgsql
as $$
declare
    c weir_internal.claim := weir_log.cursor(g, p_lane, p_stripe);
begin
    if c.next_expiry <= p_now
        and not exists (select from weir_log.unfinished(g.no, p_lane, p_stripe, c.low, p_now, 1)) then
        select coalesce(min(u.id), c.id), coalesce(min(u.deadline), 'infinity') into c.low, c.next_expiry
        from weir_log.unfinished(g.no, p_lane, p_stripe, c.low, 'infinity', null) u;
    end if;
    return c;
end
$$;

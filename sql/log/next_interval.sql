-- weir_log.next_interval(c)
-- Begins a cursor's next interval: what was not visible at the end of the last one and is now.
--
-- Parameters:
--   c  the cursor
-- Returns: the cursor at the beginning of the interval.
-- Raises: none
-- Locks: none
create or replace function weir_log.next_interval(c weir_internal.claim)
returns weir_internal.claim
language plpgsql
as $$
begin
    c.prev := c.cur;
    c.cur := weir_internal.snapshot();
    c.seg := c.lo;
    c.txid := '0';
    c.pos := 0;
    c.finished := false;
    return c;
end
$$;

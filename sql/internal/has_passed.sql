-- weir_internal.has_passed(c, p_seg, p_sealed_by)
-- Whether a cursor will never read a segment again: its interval, or all that it has still to read of it, lies after
-- the moment when the segment's last writer was over.
--
-- Parameters:
--   c            the cursor
--   p_seg        the segment
--   p_sealed_by  the transaction that saw no writer left
-- Returns: true or false.
-- Raises: none
-- Locks: none
create or replace function weir_internal.has_passed(c weir_internal.claim, p_seg bigint, p_sealed_by xid8)
returns boolean
language sql immutable
as $$
    select case when c.finished then pg_visible_in_snapshot(p_sealed_by, c.cur)
        else pg_visible_in_snapshot(p_sealed_by, c.prev)
            or pg_visible_in_snapshot(p_sealed_by, c.cur) and c.seg > p_seg end
$$;

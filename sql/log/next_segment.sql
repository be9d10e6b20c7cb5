-- weir_log.next_segment(p_from, p_hi, p_snapshot)
-- The first segment, from one on, that may hold rows not visible in a snapshot. A segment is passed when its last
-- writer was over, and known to be, before the snapshot was taken. Numbers may be left out.
--
-- Parameters:
--   p_from      the number to begin with
--   p_hi        the open segment
--   p_snapshot  the snapshot
-- Returns: the number of a segment, p_hi at most.
-- Raises: none
-- Locks: none
create or replace function weir_log.next_segment(p_from bigint, p_hi bigint, p_snapshot pg_snapshot)
returns bigint
language plpgsql
as $$
declare
    v_no bigint;
begin
    if p_from < p_hi then
        select no into v_no from weir_log.segments
        where no >= p_from and no < p_hi and not coalesce(pg_visible_in_snapshot(sealed_by, p_snapshot), false)
        order by no limit 1;
    end if;
    return coalesce(v_no, p_hi);
end
$$;

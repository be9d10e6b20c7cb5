-- weir_log.read_interval(c, p_queue, p_since, p_want)
-- Reads on with a cursor in its segment, wherever that is: see log/accessors.sql.
--
-- Parameters:
--   c        the cursor
--   p_queue  queue number
--   p_since  what was sent before is passed over
--   p_want   messages wanted
-- Returns: what it read.
-- Raises: none
-- Locks: ACCESS SHARE on the table, until the transaction ends.
create or replace function weir_log.read_interval(
    c weir_internal.claim, p_queue int, p_since timestamptz, p_want int)
returns weir_internal.reading
language plpgsql
as $$
declare
    s weir_internal.reading;
    v_late xid8[];
    v_table int;
begin
    if c.txid < pg_snapshot_xmax(c.prev) and pg_snapshot_xmin(c.prev) < pg_snapshot_xmax(c.prev) then
        v_late := array(select x from pg_snapshot_xip(c.prev) x
                        where x >= c.txid and pg_visible_in_snapshot(x, c.cur));
    end if;
    loop
        v_table := weir_log.segment_table(c.seg);
        case v_table
            when 0 then s := weir_log.read_0(c, p_queue, v_late, p_since, p_want);
            when 1 then s := weir_log.read_1(c, p_queue, v_late, p_since, p_want);
            when 2 then s := weir_log.read_2(c, p_queue, v_late, p_since, p_want);
            else s := weir_log.read_3(c, p_queue, v_late, p_since, p_want);
        end case;
        exit when weir_log.segment_table(c.seg) = v_table;
    end loop;
    return s;
end
$$;

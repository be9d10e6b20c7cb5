-- weir_log.lock_segment(p_seg)
-- Where the rows of a segment are, for a statement that is made for the table; they stay there until the transaction
-- ends.
--
-- Parameters:
--   p_seg  number of the segment
-- Returns: the table, and of those of `rest` a condition.
-- Raises: none
-- Locks: ACCESS SHARE on the table, until the transaction ends.
create or replace function weir_log.lock_segment(p_seg bigint, out table_name text, out condition text)
language plpgsql
as $$
declare
    v_table int;
begin
    loop
        v_table := weir_log.segment_table(p_seg);
        table_name := 'weir_log.' || case when v_table < 3 then 'log_' || v_table else 'rest' end;
        condition := case when v_table < 3 then '' else ' and l.seg = ' || p_seg end;
        execute 'select from ' || table_name || ' limit 0';
        exit when weir_log.segment_table(p_seg) = v_table;
    end loop;
end
$$;

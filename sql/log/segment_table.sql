-- weir_log.segment_table(p_seg)
-- Where the rows of a segment are: in table 0, 1 or 2 of the ring, or in `rest` (3), to which rotation moves what is
-- left of a segment before it truncates the table. Ask again after reading: with the table's lock held, the answer
-- cannot change any more.
--
-- Parameters:
--   p_seg  number of the segment
-- Returns: 0 .. 3
-- Raises: none
-- Locks: none
create or replace function weir_log.segment_table(p_seg bigint)
returns int
language plpgsql
as $$
begin
    return case p_seg
        when pg_sequence_last_value('weir_log.log_0_segment') then 0
        when pg_sequence_last_value('weir_log.log_1_segment') then 1
        when pg_sequence_last_value('weir_log.log_2_segment') then 2
        else 3 end;
end
$$;

-- weir_internal.count_messages(p_records)
-- How many messages records have.
--
-- Parameters:
--   p_records  records
-- Returns: the number.
-- Raises: none
-- Locks: none
create or replace function weir_internal.count_messages(p_records weir.message_record[])
returns int
language plpgsql immutable
as $$
declare
    r weir.message_record;
    v_count int := 0;
begin
    foreach r in array p_records loop
        v_count := v_count + r.n;
    end loop;
    return v_count;
end
$$;

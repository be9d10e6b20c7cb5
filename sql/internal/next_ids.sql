-- weir_internal.next_ids(p_count)
-- Ids for the messages of one call. They are places: 1,000 times a number that is given out once, plus the place of the
-- message; a call with more than 1,000 messages takes several numbers. So they rise within the call and from call to
-- call, and a batch takes one number of the sequence.
--
-- Parameters:
--   p_count  how many
-- Returns: the ids, rising.
-- Raises: none
-- Locks: none
create or replace function weir_internal.next_ids(p_count int)
returns bigint[]
language plpgsql
as $$
declare
    v_first bigint;
begin
    if p_count between 1 and 1000 then
        v_first := nextval('weir_internal.record_numbers') * 1000;
        return array(select generate_series(v_first, v_first + p_count - 1));
    end if;
    return array(
        select b.first + i
        from (select o, nextval('weir_internal.record_numbers') * 1000 as first
              from generate_series(0, p_count - 1, 1000) o) b
        cross join lateral generate_series(0, least(999, p_count - 1 - b.o)) i);
end
$$;

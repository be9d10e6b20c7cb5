-- weir_log.wait_for_key_writers(p_queue, p_keys, p_table)
-- Waits until nobody who noted one of some dedup keys is in progress any more. It notes them itself, which waits, and
-- takes that back at once: the table must not get one more writer, or it could not be sealed for as long as there are
-- senders.
--
-- Parameters:
--   p_queue  queue number
--   p_keys   digests, ascending
--   p_table  number of the table
-- Returns: nothing.
-- Raises: 40001 where a fixed snapshot hides a row of one of the keys; 40P01
-- Locks: ROW EXCLUSIVE on the table, until it returns.
create or replace function weir_log.wait_for_key_writers(p_queue int, p_keys uuid[], p_table int)
returns void
language plpgsql
as $$
begin
    if p_table = 0 then
        perform weir_log.wait_keys_0(p_queue, p_keys);
    else
        perform weir_log.wait_keys_1(p_queue, p_keys);
    end if;
    raise exception 'waited' using errcode = 'raise_exception';
exception
    when raise_exception then
        null;
end
$$;

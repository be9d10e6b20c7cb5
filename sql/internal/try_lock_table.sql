-- weir_internal.try_lock_table(p_table, p_mode)
-- Takes a table lock if it is to be had at once. To wait, be it for some milliseconds, would hold up everybody who
-- comes behind. An ACCESS EXCLUSIVE lock, which truncates, is not taken while the database is dumped: a dump that
-- begins after this look sees all that rotation builds on.
--
-- Parameters:
--   p_table  the table, with its schema
--   p_mode   'share' or 'access exclusive'
-- Returns: whether the lock was taken.
-- Raises: none
-- Locks: the table, tried, until the transaction ends.
create or replace function weir_internal.try_lock_table(p_table text, p_mode text)
returns boolean
language plpgsql
as $$
begin
    if p_mode = 'access exclusive' and exists (select from weir_internal.dumping()) then
        return false;
    end if;
    execute format('lock table %s in %s mode nowait', p_table, p_mode);
    return true;
exception
    when lock_not_available then
        return false;
end
$$;

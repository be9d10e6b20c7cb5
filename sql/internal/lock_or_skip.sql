-- weir_internal.lock_or_skip(p_table, p_mode)
-- Takes a table lock if that is possible within 20 ms, which also bounds how long others may queue behind the attempt.
-- An ACCESS EXCLUSIVE lock, which rotation takes to truncate, is not taken while the database is dumped: a dump that
-- begins after this look sees all that rotation builds on.
--
-- Parameters:
--   p_table  the table
--   p_mode   'share' or 'access exclusive'
-- Returns: whether the lock was taken.
-- Raises: none
-- Locks: the table, until the transaction ends.
create or replace function weir_internal.lock_or_skip(p_table text, p_mode text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '20ms'
as $$
begin
    if p_mode = 'access exclusive' and exists (select from weir_internal.dumping()) then
        return false;
    end if;
    execute format('lock table %s in %s mode', p_table, p_mode);
    return true;
exception
    when lock_not_available then
        return false;
end
$$;

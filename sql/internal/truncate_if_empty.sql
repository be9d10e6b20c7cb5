-- weir_internal.truncate_if_empty(p_table)
-- Gives back the space of a table that has no rows. It looks once more when it has the lock, in a statement of its own:
-- whoever wrote between an earlier look and the lock has committed, and only a newer snapshot shows his rows.
--
-- Parameters:
--   p_table  the table, with its schema
-- Returns: 1 when it was truncated, else 0.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on the table, tried.
create or replace function weir_internal.truncate_if_empty(p_table text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_rows boolean;
begin
    execute format('select exists (select from %s)', p_table) into v_rows;
    if v_rows then
        return 0;
    elsif not weir_internal.try_lock_table(p_table, 'access exclusive') then
        return 0;
    end if;
    execute format('select exists (select from %s)', p_table) into v_rows;
    if v_rows then
        return 0;
    end if;
    execute format('truncate table %s', p_table);
    return 1;
end
$$;

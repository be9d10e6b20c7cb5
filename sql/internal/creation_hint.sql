-- weir_internal.creation_hint(p_what, p_name, p_call)
-- How to make a queue or group that is missing, or which names there can be.
--
-- Parameters:
--   p_what  'queue' or 'group'
--   p_name  its name
--   p_call  the call that makes it
-- Returns: the call, or the hint of WR005 where nothing can have the name.
-- Raises: none (a WR005 within tells that)
-- Locks: none
create or replace function weir_internal.creation_hint(p_what text, p_name text, p_call text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_hint text;
begin
    perform weir_internal.check_name(p_what, p_name);
    return 'select ' || p_call;
exception when sqlstate 'WR005' then
    get stacked diagnostics v_hint = pg_exception_hint;
    return format('No %s has such a name. %s', p_what, v_hint);
end
$$;

-- weir_internal.create_log_functions(p_schema)
-- Creates the functions of a log: those of the log `main`, with the name of its schema in the place of weir_log. An
-- upgrade calls it for each further log.
--
-- Parameters:
--   p_schema  the log's schema
-- Returns: nothing.
-- Raises: none
-- Locks: none
create or replace function weir_internal.create_log_functions(p_schema text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = off
as $$
declare
    v_text text;
begin
    for v_text in
        select pg_get_functiondef(p.oid) from pg_proc p
        where p.pronamespace = 'weir_log'::regnamespace order by p.oid
    loop
        execute regexp_replace(v_text, '\mweir_log\M', p_schema, 'g');
    end loop;
    execute format('revoke all on all functions in schema %s from public', p_schema);
end
$$;

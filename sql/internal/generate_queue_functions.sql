-- weir_internal.generate_queue_functions(q)
-- Creates a queue's own functions from the templates, or replaces them: at create_queue, when a setting they contain
-- changes, and at every install.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none
create or replace function weir_internal.generate_queue_functions(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = off
as $$
declare
    v_body text;
    v_new text;
begin
    for v_body in select weir_internal.expand_template(body, q) from weir_internal.templates order by name loop
        execute v_body;
        select string_agg(p.oid::regprocedure::text, ', ') into v_new
        from regexp_matches(v_body, 'create or replace function weir_internal\."?([^("]+)', 'g') m
        join pg_proc p on p.proname = m[1] and p.pronamespace = 'weir_internal'::regnamespace
        where p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0);
        if v_new is not null then
            execute format('revoke all on function %s from public', v_new);
        end if;
    end loop;
end
$$;

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
    v_function regprocedure;
begin
    for v_body in select body from weir_internal.templates order by name loop
        execute weir_internal.expand_template(v_body, q);
    end loop;
    for v_function in
        select oid from pg_proc
        where pronamespace = 'weir_internal'::regnamespace
            and (proname ~ ('^q' || q.no || '_') or proname ~ '^[a-z_]+:' and split_part(proname, ':', 2) = q.name)
            and (proacl is null or exists (select from aclexplode(proacl) a where a.grantee = 0))
    loop
        execute format('revoke all on function %s from public', v_function);
    end loop;
end
$$;

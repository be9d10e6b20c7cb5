-- weir_internal.complete_rights(p_role)
-- Gives a role what its rights consist of, where it has only part of that: after a right was granted, and after an
-- install that made functions anew.
--
-- Parameters:
--   p_role  name of the role
-- Returns: nothing.
-- Raises: none
-- Locks: none; the caller holds the lock of rights.
create or replace function weir_internal.complete_rights(p_role name)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role oid := (select oid from pg_roles where rolname = p_role);
    v_function regprocedure;
    v_schema name;
begin
    for v_function in
        select f from weir_internal.functions_of(p_role) f join pg_proc p on p.oid = f::oid
        where not exists (select from aclexplode(p.proacl) a where a.grantee = v_role)
    loop
        execute format('grant execute on routine %s to %I', v_function, p_role);
    end loop;
    for v_schema in
        select nspname from pg_namespace n
        where nspname in ('weir', 'weir_internal', 'weir_gates')
            and not exists (select from aclexplode(n.nspacl) a where a.grantee = v_role and a.privilege_type = 'USAGE')
    loop
        execute format('grant usage on schema %I to %I', v_schema, p_role);
    end loop;
end
$$;

-- weir_internal.trim_rights(p_role)
-- Takes from a role what the rights that it still has do not need, after it lost one. Functions that are part of no
-- right, such as create_queue, stay with who was granted them by hand.
--
-- Parameters:
--   p_role  name of the role
-- Returns: nothing.
-- Raises: none
-- Locks: none; the caller holds the lock of rights.
create or replace function weir_internal.trim_rights(p_role name)
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
        select p.oid from pg_proc p
        where p.pronamespace in ('weir'::regnamespace, 'weir_internal'::regnamespace, 'weir_gates'::regnamespace)
            and exists (select from aclexplode(p.proacl) a where a.grantee = v_role)
            and (p.pronamespace = 'weir_gates'::regnamespace
                 or exists (select from weir_internal.rights() r
                            where p.pronamespace::regnamespace || '.' || p.proname = any(r.functions)))
        except
        select f from weir_internal.functions_of(p_role) f
    loop
        execute format('revoke all on routine %s from %I', v_function, p_role);
    end loop;
    for v_schema in
        select nspname from pg_namespace n
        where nspname in ('weir', 'weir_internal', 'weir_gates')
            and exists (select from aclexplode(n.nspacl) a where a.grantee = v_role)
            and not exists (select from pg_proc p cross join lateral aclexplode(p.proacl) a
                            where p.pronamespace = n.oid and a.grantee = v_role)
    loop
        execute format('revoke all on schema %I from %I', v_schema, p_role);
    end loop;
end
$$;

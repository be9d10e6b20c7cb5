-- weir_internal.restore_grants()
-- Gives every role EXECUTE on the functions of the names it could execute before the install: one whose arguments
-- changed is another function to PostgreSQL, and comes without the grants of the old one.
--
-- Returns: nothing.
-- Raises: none
-- Locks: none; the caller holds the lock of rights.
create or replace function weir_internal.restore_grants()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_grant text;
begin
    for v_grant in
        select distinct format('grant execute on routine %s to %I%s', p.oid::regprocedure, r.rolname,
            case when a.is_grantable then ' with grant option' else '' end)
        from weir_internal.functions_before b
        cross join lateral aclexplode(b.proacl) a
        join pg_roles r on r.oid = a.grantee
        join pg_proc p on p.pronamespace = b.pronamespace and p.proname = b.proname and p.proowner = b.proowner
        where a.grantee <> b.proowner
            and not exists (select from aclexplode(p.proacl) h
                            where h.grantee = a.grantee and h.is_grantable >= a.is_grantable)
    loop
        execute v_grant;
    end loop;
end
$$;

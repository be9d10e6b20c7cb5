-- weir_internal.held_rights()
-- Who has which right on which queue, as the gates' own access lists tell. The owner, who has all, is left out.
--
-- Returns: one row a queue, role and right.
-- Raises: none
-- Locks: none
create or replace function weir_internal.held_rights()
returns table (queue_name text, role_name name, right_name text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select split_part(p.proname, ':', 2), o.rolname, r.right_name
    from weir_internal.rights() r
    join pg_proc p on starts_with(p.proname, r.gates[1] || ':')
    cross join lateral aclexplode(p.proacl) a
    join pg_roles o on o.oid = a.grantee
    where p.pronamespace = 'weir_gates'::regnamespace and a.grantee <> p.proowner
$$;

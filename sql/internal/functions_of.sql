-- weir_internal.functions_of(p_role)
-- The functions that a role must be able to execute to use the rights it has.
--
-- Parameters:
--   p_role  name of the role
-- Returns: gates, and functions of the schemas weir and weir_internal.
-- Raises: none
-- Locks: none
create or replace function weir_internal.functions_of(p_role name)
returns setof regprocedure
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    with held as materialized (
        select h.queue_name, r.gates, r.functions
        from weir_internal.held_rights() h join weir_internal.rights() r using (right_name)
        where h.role_name = p_role)
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'weir_gates'::regnamespace
        and p.proname in (select v || ':' || h.queue_name from held h cross join unnest(h.gates) v)
    union
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace in ('weir'::regnamespace, 'weir_internal'::regnamespace)
        and p.pronamespace::regnamespace || '.' || p.proname in (select f from held h cross join unnest(h.functions) f)
$$;

-- weir_internal.drop_obsolete_functions()
-- Drops the functions that an older release made and this install did not make anew: those that are gone, and those
-- whose arguments changed. `create or replace` moves a function's row in pg_proc; one that stands where it stood before
-- the install was not made by it. Functions of other owners are not ours and stay.
--
-- Returns: nothing.
-- Raises: 2BP01 when something of the user's, such as a view, depends on one. It names both.
-- Locks: ACCESS EXCLUSIVE on each function that it drops.
create or replace function weir_internal.drop_obsolete_functions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_function regprocedure;
begin
    for v_function in
        select p.oid from weir_internal.functions_before b
        join pg_proc p on p.oid = b.oid and p.ctid = b.place
        join pg_namespace n on n.oid = p.pronamespace and n.nspowner = p.proowner
    loop
        execute format('drop routine %s', v_function);
    end loop;
end
$$;

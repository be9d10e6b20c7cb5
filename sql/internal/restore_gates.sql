-- weir_internal.restore_gates()
-- Makes the gates anew that queues have, as this release makes them, and removes those that it has not or that nobody
-- may pass any more.
--
-- Returns: nothing.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on each gate that it drops; the caller holds the lock of rights.
create or replace function weir_internal.restore_gates()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_gates text[];
    v_gate regprocedure;
begin
    for q in
        select * from weir_internal.queues w where w.name in (select h.queue_name from weir_internal.held_rights() h)
    loop
        v_gates := array(
            select distinct g
            from weir_internal.held_rights() h
            join weir_internal.rights() r on r.right_name = h.right_name
            cross join unnest(r.gates) g
            where h.queue_name = q.name);
        perform weir_internal.make_gates(q, v_gates);
    end loop;
    for v_gate in
        select p.oid from pg_proc p
        where p.pronamespace = 'weir_gates'::regnamespace
            and not exists (
                select from weir_internal.held_rights() h join weir_internal.rights() r on r.right_name = h.right_name
                where h.queue_name = split_part(p.proname, ':', 2) and split_part(p.proname, ':', 1) = any(r.gates))
    loop
        execute format('drop function %s', v_gate);
    end loop;
end
$$;

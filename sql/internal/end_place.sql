-- weir_internal.end_place(q)
-- The place behind all that is committed now, and due. The caller holds the locks of the lanes that it will move there.
--
-- Parameters:
--   q  the queue
-- Returns: the place.
-- Raises: none
-- Locks: none
create or replace function weir_internal.end_place(q weir_internal.queues)
returns weir_internal.place
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    p weir_internal.place;
    v_xid xid8 := pg_current_xact_id_if_assigned();
begin
    p.due_at := weir_internal.clock();
    execute format('select weir_internal.q%s_reach($1)', q.no) into p.cur using p.due_at;
    p.bound := case when v_xid is null then pg_current_xact_id() end;
    return p;
end
$$;

-- weir_internal.start_backlog(q)
-- Creates the sequences that a queue with a limit on its backlog needs, where they are not there, and sets them so that
-- the next send counts; see admit.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none
create or replace function weir_internal.start_backlog(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
    v_name text;
begin
    foreach v_name in array array['end', 'depth', 'full'] loop
        v_name := format('weir_internal.q%s_backlog_%s', q.no, v_name);
        execute format('create sequence if not exists %s minvalue 0', v_name);
        perform setval(v_name, 0);
    end loop;
end
$$;

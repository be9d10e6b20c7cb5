-- weir_internal.clear_lines(q, g)
-- Forgets the lines of keys of a group, with the messages in them. The caller has the group's turn.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: nothing.
-- Raises: none
-- Locks: rows of `lines` and `turns`.
create or replace function weir_internal.clear_lines(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('delete from weir_internal.q%s_lines where group_id = $1', q.no) using g.id;
    execute format('delete from weir_internal.q%s_turns where group_id = $1', q.no) using g.id;
end
$$;

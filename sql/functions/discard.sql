-- weir.discard(queue_name, group_name, ids)
-- Deletes dead letters. At most 10,000 a call: call again until it returns 0.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   ids         which; null = all
-- Returns: how many were deleted.
-- Raises: WR001, WR003, WR006, WR017
-- Locks: the dead letters' rows, until the transaction ends.
create or replace function weir.discard(queue_name text, group_name text default 'default', ids bigint[] default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir_internal.ask_admin(queue_name, 'discard', jsonb_build_object('group_name', group_name, 'ids', ids));
end
$$;

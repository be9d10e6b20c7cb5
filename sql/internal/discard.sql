-- weir_internal.discard(queue_name, group_name, ids)
-- Deletes dead letters. At most 10,000 a call: call again until it returns 0.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   ids         which; null = all
-- Returns: how many were deleted.
-- Raises: WR001, WR003, WR017
-- Locks: the dead letters' rows, until the transaction ends.
create or replace function weir_internal.discard(queue_name text, group_name text, ids bigint[] default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.find_group(q, group_name);
begin
    return coalesce(cardinality(weir_internal.take_dead_letters(q, g, ids, '-infinity')), 0);
end
$$;

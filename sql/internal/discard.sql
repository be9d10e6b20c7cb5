-- weir_internal.discard(p_queue, p_group, p_ids)
-- Deletes dead letters. At most 10,000 a call: call again until it returns 0.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_ids    which; null = all
-- Returns: how many were deleted.
-- Raises: WR001, WR003, WR006, WR017
-- Locks: the dead letters' rows, until the transaction ends.
create or replace function weir_internal.discard(p_queue text, p_group text, p_ids bigint[])
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
begin
    return coalesce(cardinality(weir_internal.take_dead_letters(q, g, p_ids, '-infinity')), 0);
end
$$;

-- weir.get_many(queue_name, ids)
-- Shows several messages, as weir.get shows one; the log is read once for all of them.
--
-- Parameters:
--   queue_name  the queue
--   ids         the messages, 1 to 1,000
-- Returns: one row for each of them that the queue holds, in the order of the ids; see weir.get.
-- Raises: WR001, WR006, WR012
-- Locks: none
create or replace function weir.get_many(queue_name text, ids bigint[])
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute 'select * from ' || weir_internal.queue_function('get', queue_name) || '($1)' using ids;
end
$$;

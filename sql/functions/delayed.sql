-- weir.delayed(queue_name, group_name, max)
-- Lists a group's messages that are not due, the next ones first: what was sent with a delay, and retries. Retries of
-- an ordered group stand in the lines of their keys: see weir.parked_keys.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
-- Returns: one row a message, see weir.delayed_message: those of the group among the 10,000 of the queue that are due
-- next.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: none
create or replace function weir.delayed(queue_name text, group_name text default 'default', max int default 100)
returns setof weir.delayed_message
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute 'select * from ' || weir_internal.queue_function('delayed', queue_name) || '($1, $2)'
    using group_name, max;
end
$$;

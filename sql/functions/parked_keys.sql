-- weir.parked_keys(queue_name, group_name, max)
-- Lists the keys of a group of which messages wait in a line of their own: in an ordered group behind a message in
-- trouble, in a group that is fair or limits its keys until it is their turn.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
-- Returns: one row a key, see weir.parked_key, in the order of keys; messages without one are a line of their lane's,
-- or of the group's.
-- Raises: WR001, WR003, WR006, WR012, WR016
-- Locks: none
create or replace function weir.parked_keys(queue_name text, group_name text default 'default', max int default 100)
returns setof weir.parked_key
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute 'select * from ' || weir_internal.queue_function('parked_keys', queue_name) || '($1, $2)'
    using group_name, max;
end
$$;

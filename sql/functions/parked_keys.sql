-- weir.parked_keys(queue_name, group_name, max, after, after_lane)
-- Lists the keys of a group of which messages wait in a queue of their own: in an ordered group behind a message in
-- trouble, in a group that is fair or limits its keys until it is their turn.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only keys above this: to page on, give the last key of the page before
--   after_lane  where the page before ended with messages without a key: their lane, instead
-- Returns: one row a key, see weir.parked_key, in the order of keys; messages without one come last, in a
-- queue of their lane's, or of the group's.
-- Raises: WR001, WR003, WR006
-- Locks: none
create or replace function weir.parked_keys(
    queue_name text, group_name text default 'default', max int default 100, after text default null,
    after_lane int default null)
returns setof weir.parked_key
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.parked_keys(queue_name, group_name, max, after, after_lane);
    else
        return query execute 'select * from ' || weir_internal.call('parked_keys', queue_name, '$1, $2, $3, $4')
        using group_name, max, after, after_lane;
    end if;
end
$$;

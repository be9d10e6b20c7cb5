-- weir.delayed(queue_name, group_name, max, after)
-- Lists a group's messages that are not due, the next ones first: what was sent with a delay, and retries. Retries of
-- an ordered group stand in the queues of their keys: see weir.parked_keys.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only what comes after this message: to page on, give the last id of the page before. When that has
--               become due meanwhile, so has what came before it, and the list begins with what is due next
-- Returns: one row a message, see weir.delayed_message: those of the group among the 10,000 of the queue that are due
-- next.
-- Raises: WR001, WR003, WR006
-- Locks: none
create or replace function weir.delayed(
    queue_name text, group_name text default 'default', max int default 100, after bigint default 0)
returns setof weir.delayed_message
language plpgsql
as $$
begin
    if weir_internal.direct(queue_name) then
        return query select * from weir_log.delayed(queue_name, group_name, max, after);
    else
        return query execute 'select * from ' || weir_internal.call('delayed', queue_name, '$1, $2, $3')
        using group_name, max, after;
    end if;
end
$$;

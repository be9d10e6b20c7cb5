-- weir.stats(queue_name)
-- How each group of a queue stands.
--
-- Parameters:
--   queue_name  the queue; null = all that the caller consumes from or administers
-- Returns: one row a group, see weir.group_stats. The messages of a queue are counted at one moment, each once: a group
-- of which waiting, claimed, delayed and parked are 0 has nothing to do. Numbers of messages are exact when small:
-- waiting ones while there are less than 1,000 records (a record holds what one call sent into one lane, up to 1,000
-- messages), delayed and parked ones in tables of up to 512 KiB, dead ones up to 1,000. Beyond that they are estimates,
-- `exact` is false, and the cost stays the same whatever the backlog: waiting messages are extrapolated from both ends
-- of each lane, a few per cent off while producers do not change their ways, the others from 64 pages of their table, 3
-- to 10 per cent off. Rates come from counters that `maintain` notes every 30 s; without it they are null. What blocks
-- a rotation is the queue's, and is repeated in each row.
-- Raises: WR001, WR012, WR016
-- Locks: ACCESS SHARE on the queues' tables, until the transaction ends.
create or replace function weir.stats(queue_name text default null)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
begin
    for v_queue in
        select stats.queue_name where stats.queue_name is not null
        union all
        select * from weir_internal.visible_queues() where stats.queue_name is null
    loop
        begin
            return query execute 'select * from ' || weir_internal.queue_function('stats', v_queue) || '()';
        exception
            when sqlstate 'WR001' or undefined_function or undefined_table or internal_error then
                if stats.queue_name is not null or v_queue in (select * from weir_internal.visible_queues()) then
                    raise;
                end if; -- else it was dropped meanwhile
        end;
    end loop;
end
$$;

-- weir.stats(queue_name)
-- How each group of a queue stands.
--
-- Parameters:
--   queue_name  the queue; null = all that the caller consumes from or administers
-- Returns: one row a group, see weir.group_stats. Waiting messages are counted by reading their records.
-- Raises: WR001, WR012
-- Locks: none
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
        return query execute 'select * from ' || weir_internal.queue_function('stats', v_queue) || '()';
    end loop;
end
$$;

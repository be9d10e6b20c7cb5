-- weir_internal.purge(queue_name, group_name)
-- Purges a group, or each group of a queue. Steps of workflows whose jobs are dropped count as cancelled.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group; null = all groups
-- Returns: how many messages were dropped.
-- Raises: WR001, WR003, WR012
-- Locks: the queue's administration lock and the locks of the groups' lanes, until the transaction ends.
create or replace function weir_internal.purge(queue_name text, group_name text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    v_count bigint := 0;
begin
    perform weir_internal.check_isolation('purge');
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    if group_name is not null then
        g := weir_internal.find_group(q, group_name);
    end if;
    perform weir_internal.end_lost_steps(q, 2, 1000000); -- what is done, before what is dropped
    for g in select * from weir_internal.groups w where w.queue_no = q.no and w.no = coalesce(g.no, w.no) order by w.no
    loop
        v_count := v_count + weir_internal.purge_group(q, weir_internal.apply_ttl(g));
    end loop;
    perform weir_internal.end_lost_steps(q, 3, 1000000);
    return v_count;
end
$$;

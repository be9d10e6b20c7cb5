-- weir_internal.backlog(q)
-- How far behind the slowest group of a queue is: the messages that it has not finished, dead letters apart.
--
-- Parameters:
--   q  the queue
-- Returns: how many, as stats counts them, which is an estimate where they are many; 0 when the queue has no group.
-- Raises: WR016
-- Locks: none
create or replace function weir_internal.backlog(q weir_internal.queues)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(max(d.waiting + d.claimed + d.delayed + d.parked), 0)
    from weir_internal.groups g cross join lateral weir_internal.group_depth(q, weir_internal.apply_ttl(g)) d
    where g.queue_no = q.no
$$;

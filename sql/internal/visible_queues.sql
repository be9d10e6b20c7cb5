-- weir_internal.describe(p_queue), weir_internal.groups(p_queue), weir_internal.visible_queues()
-- What those who consume from a queue, or administer it, may see of it: its row, and those of its groups. And the
-- queues that the caller sees through gates.
--
-- Parameters:
--   p_queue  name of the queue; describe: null = all
-- Returns: describe, groups: rows; visible_queues: names, in order.
-- Raises: none
-- Locks: none
create or replace function weir_internal.describe(p_queue text)
returns table (
    queue_name text, lanes int, message_bytes_max int, created_at timestamptz, paused boolean, priorities int,
    aging interval, ttl interval, dedup_window interval, backlog_max bigint, job_retention interval, log text,
    moving_from text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select q.name, q.key_lanes, q.message_bytes_max, q.created_at, q.paused, q.priorities, q.aging, q.ttl,
        q.dedup_window, q.backlog_max, q.job_retention, l.name, f.name
    from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no
    left join weir_internal.logs f on f.no = q.moving_from
    where p_queue is null or q.name = p_queue order by q.name
$$;
create or replace function weir_internal.groups(p_queue text)
returns setof weir_internal.groups
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
begin
    return query select * from weir_internal.groups where queue_no = q.no order by name;
end
$$;
create or replace function weir_internal.visible_queues()
returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select split_part(proname, ':', 2) from pg_proc
    where pronamespace = 'weir_gates'::regnamespace and starts_with(proname, 'describe:')
        and has_function_privilege(oid, 'execute')
    order by 1
$$;

-- weir_internal.check_same_queue(q, p_given)
-- Refuses to make a queue that is there with other settings.
--
-- Parameters:
--   q        the queue that is there
--   p_given  the settings asked for, by name
-- Returns: nothing.
-- Raises: WR002
-- Locks: none
create or replace function weir_internal.check_same_queue(q weir_internal.queues, p_given jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_there jsonb := jsonb_build_object(
        'ordered', coalesce((select g.ordered from weir_internal.groups g
                             where g.queue_no = q.no and g.name = 'default'), false),
        'log', (select l.name from weir_internal.logs l where l.no = q.log_no), 'lanes', q.key_lanes,
        'message_bytes_max', q.message_bytes_max, 'priorities', q.priorities, 'aging', q.aging, 'ttl', q.ttl,
        'dedup_window', coalesce(q.dedup_window, '0'), 'backlog_max', coalesce(q.backlog_max, 0),
        'job_retention', q.job_retention);
    v_differences text;
begin
    select string_agg(format('%s is %s, not %s', k.key, v_there -> k.key, k.value), '; ' order by k.key)
    into v_differences
    from jsonb_each(p_given) k where v_there -> k.key <> k.value;
    if v_differences is not null then
        raise exception 'queue "%" exists with other settings: %', q.name, v_differences
            using errcode = 'WR002',
            hint = 'Leave the settings out, change them with weir.configure_queue, or choose another name.';
    end if;
end
$$;

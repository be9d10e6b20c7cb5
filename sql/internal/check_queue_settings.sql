-- weir_internal.check_queue_settings(q)
-- Refuses settings of a queue that are out of range.
--
-- Parameters:
--   q  the queue as it is to be
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_queue_settings(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_setting text;
    v_value text;
    v_rule text;
begin
    select t.* into v_setting, v_value, v_rule
    from (values
        ('priorities', q.priorities::text, '1 to 8', q.priorities between 1 and 8),
        ('lanes', q.key_lanes::text, '1 to 256', q.key_lanes between 1 and 256),
        ('message_bytes_max', q.message_bytes_max::text, '1024 to 67108864',
            q.message_bytes_max between 1024 and 67108864),
        ('aging', q.aging::text, '0 to 10 years', q.aging between interval '0' and interval '10 years'),
        ('ttl', q.ttl::text, '0 (none) to 10 years', q.ttl between interval '0' and interval '10 years'),
        ('dedup_window', q.dedup_window::text, '0 (none) to 10 years',
            coalesce(q.dedup_window between interval '1 millisecond' and interval '10 years', true)),
        ('backlog_max', q.backlog_max::text, '1 or more, or 0 (no limit)', coalesce(q.backlog_max >= 1, true)),
        ('job_retention', q.job_retention::text, '1 second to 10 years',
            q.job_retention between interval '1 second' and interval '10 years')
    ) as t (setting, value, rule, fits)
    where t.fits is not true limit 1;
    if found then
        raise exception 'queue "%": % % is out of range', q.name, v_setting, coalesce(v_value, 'null')
            using errcode = 'WR006', hint = format('%s: %s.', v_setting, v_rule);
    end if;
end
$$;

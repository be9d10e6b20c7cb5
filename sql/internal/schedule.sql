-- weir_internal.schedule(queue_name, p_args)
-- Creates a schedule or replaces it; see weir.schedule. When it is due again is not changed unless what says so is.
--
-- Parameters:
--   queue_name  the queue
--   p_args      the other arguments of weir.schedule by name
-- Returns: the next due time, microseconds since 1970.
-- Raises: WR001, WR005, WR006, WR007, WR050, WR052, WR054
-- Locks: the schedule's row, until the transaction ends.
create or replace function weir_internal.schedule(queue_name text, p_args jsonb)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    s weir_internal.schedules;
    o weir_internal.schedules; -- the one that is there
begin
    s := jsonb_populate_record(null::weir_internal.schedules, p_args - 'args');
    s.args := p_args -> 'args';
    s.queue_no := q.no;
    perform weir_internal.check_name('schedule', s.name);
    perform weir_internal.check_jobs(q.name, coalesce(q.dedup_window::text, ''), array[s.kind], array[s.headers], null,
        case when s.is_unique then array[null::text] end, null);
    perform weir_internal.check_batch(
        q.name, q.message_bytes_max, array[s.args::text], null, array[s.key], array[s.headers]);
    perform weir_internal.check_priority(q.name, q.priorities, s.priority, s.key is not null)
    where s.priority is not null;
    if (s.cron is null) = (s.every is null) or s.every not between interval '1 second' and interval '10 years'
        or s.time_zone is null or s.missed is null or s.missed not in ('skip', 'once', 'all') then
        raise exception 'schedule "%": cron %, every %, time zone %, missed %', s.name, coalesce(s.cron, 'null'),
            coalesce(s.every::text, 'null'), coalesce(s.time_zone, 'null'), coalesce(s.missed, 'null')
            using errcode = 'WR052',
            hint = 'Give either cron or every (1 second to 10 years), and missed: ''skip'', ''once'' or ''all''.';
    end if;
    s.next_at := weir_internal.clock();
    s.next_at := weir_internal.following(s, s.next_at);
    insert into weir_internal.schedules
        (name, queue_no, cron, every, time_zone, missed, kind, args, key, headers, priority, is_unique, tracked,
         next_at)
    values (s.name, s.queue_no, s.cron, s.every, s.time_zone, s.missed, s.kind, s.args, s.key, s.headers, s.priority,
        s.is_unique, s.tracked, s.next_at)
    on conflict (name) do nothing;
    if found then
        return weir_internal.to_micros(s.next_at);
    end if;
    select * into o from weir_internal.schedules where name = s.name for update;
    if o.queue_no <> s.queue_no then
        raise exception 'schedule "%" is of another queue', s.name
            using errcode = 'WR054', hint = 'Choose another name, or unschedule that one first.';
    end if;
    if (o.cron, o.every, o.time_zone) is not distinct from (s.cron, s.every, s.time_zone) then
        s.next_at := o.next_at;
    end if;
    update weir_internal.schedules
    set cron = s.cron, every = s.every, time_zone = s.time_zone, missed = s.missed, kind = s.kind, args = s.args,
        key = s.key, headers = s.headers, priority = s.priority, is_unique = s.is_unique, tracked = s.tracked,
        next_at = s.next_at
    where name = s.name
        and (cron, every, time_zone, missed, kind, args, key, headers, priority, is_unique, tracked) is distinct from
            (s.cron, s.every, s.time_zone, s.missed, s.kind, s.args, s.key, s.headers, s.priority, s.is_unique,
             s.tracked);
    return weir_internal.to_micros(s.next_at);
end
$$;

-- weir.schedule(name, queue_name, kind, args, cron, every, time_zone, missed, key, headers, priority, is_unique, ...)
-- Enqueues a job again and again: creates a schedule, or replaces the one of that name. Programs may call it whenever
-- they start: as long as the times are the same, nothing changes about when it is due. Schedules are fired by maintain,
-- or by fire_schedules, within about a second of the due time, once for each, however many workers there are.
--
-- Parameters:
--   name        1 to 47 of a-z, 0-9, _, - and .; unique in the database
--   queue_name  the queue
--   kind        what handles the jobs
--   args        their arguments
--   cron        minute, hour, day of the month, month, day of the week: values, names (MON, JAN), ranges, lists and
--               steps, as in '*/15 8-17 * * MON-FRI'; or @hourly, @daily, @weekly, @monthly, @yearly. With both days
--               given, either is enough. null = by `every`
--   every       how often, 1 second to 10 years, from now on; null = by cron
--   time_zone   in which cron is meant. Times that a clock shows twice count once, and times that it leaps over count
--               when it leaps; but with * for the hour it goes on at its pace
--   missed      what becomes of due times more than a minute past, when nobody was there to fire: 'skip' = nothing;
--               'once' = one job for all of them; 'all' = a job for each
--   key         as enqueue takes it
--   headers     as enqueue takes them; the jobs also have "schedule": {"name": ..., "due": ...}
--   priority    as enqueue takes it
--   is_unique   true: none is enqueued while one of the same kind and arguments is not finished
--   tracked     as enqueue takes it
-- Returns: the next due time.
-- Raises: WR001, WR005, WR006, WR007, WR008, WR050, WR052, WR054
-- Locks: the schedule's row, until the transaction ends.
create or replace function weir.schedule(
    name text,
    queue_name text,
    kind text,
    args jsonb default '{}',
    cron text default null,
    every interval default null,
    time_zone text default 'UTC',
    missed text default 'skip',
    key text default null,
    headers jsonb default null,
    priority int default null,
    is_unique boolean default false,
    tracked boolean default false)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return timestamptz 'epoch' + interval '1 microsecond' * weir_internal.ask_admin(queue_name, 'schedule',
        jsonb_build_object('name', name, 'cron', cron, 'kind', kind, 'time_zone', time_zone, 'missed', missed,
            'every', every, 'key', key, 'headers', headers, 'priority', priority, 'is_unique', is_unique is true,
            'tracked', tracked is true)
        || case when args is null then '{}' else jsonb_build_object('args', args) end);
end
$$;

-- weir.next_times(cron, time_zone, after, n)
-- When a cron expression would be due: a dry run of weir.schedule.
--
-- Parameters:
--   cron       as weir.schedule takes it
--   time_zone  likewise
--   after      a time of the years 1 to 9999; null = now
--   n          how many times, 1 to 1,000
-- Returns: the due times after it, ascending; fewer than n when there are no more within a hundred years, or before the
-- year 10000.
-- Raises: WR006, WR052
-- Locks: none
create or replace function weir.next_times(
    cron text, time_zone text default 'UTC', after timestamptz default null, n int default 10)
returns setof timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_time timestamptz := coalesce(after, weir_internal.clock());
begin
    if n is null or n not between 1 and 1000 or time_zone is null
        or v_time not between timestamptz '0001-01-01 00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00' then
        raise exception '% times after % in time zone %', coalesce(n::text, 'null'), v_time, coalesce(time_zone, 'null')
            using errcode = 'WR006',
            hint = 'Give a time of the years 1 to 9999, a time zone and a number of 1 to 1,000.';
    end if;
    return query select * from unnest(weir_internal.due_times(cron, time_zone, v_time, n, 36525));
end
$$;

-- weir.next_times(cron, time_zone, after, n)
-- When a cron expression would be due: a dry run of weir.schedule.
--
-- Parameters:
--   cron       as weir.schedule takes it
--   time_zone  likewise
--   after      a time; null = now
--   n          how many times, 1 to 10,000
-- Returns: the due times after it, ascending; fewer than n when there are no more within nine years.
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
    if n is null or n not between 1 and 10000 or time_zone is null or not isfinite(v_time) then
        raise exception '% times after % in time zone %', coalesce(n::text, 'null'), v_time, coalesce(time_zone, 'null')
            using errcode = 'WR006', hint = 'Give a time, a time zone and a number of 1 to 10,000.';
    end if;
    for i in 1 .. n loop
        v_time := weir_internal.next_time(cron, time_zone, v_time);
        exit when v_time is null;
        return next v_time;
    end loop;
end
$$;

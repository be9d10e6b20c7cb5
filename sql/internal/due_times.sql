-- weir_internal.due_times(p_cron, p_time_zone, p_after, p_n, p_days)
-- The next times at which a cron expression is due. A day is due when its month is, and its day of the month or its day
-- of the week, if both are given; else both.
--
-- Where clocks change: an expression with any hour (*) is due whenever a clock on the wall shows one of its times, so
-- it goes on at the same pace. One with hours of its own is due once for each of its times: for those that a clock
-- shows twice, the first time; for those that it leaps over, at the moment it leaps.
--
-- Parameters:
--   p_cron       the expression
--   p_time_zone  name of a time zone
--   p_after      a time
--   p_n          how many times
--   p_days       so many days are looked at
-- Returns: the first due times after it, ascending; fewer when there are no more in those days, or in years of four
-- digits.
-- Raises: WR052
-- Locks: none
create or replace function weir_internal.due_times(
    p_cron text, p_time_zone text, p_after timestamptz, p_n int, p_days int)
returns timestamptz[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    c record;
    v_day date;
    v_times timestamptz[] := '{}';
begin
    begin
        v_day := (p_after at time zone p_time_zone)::date - 1; -- a clock may have been set back over midnight
    exception
        when invalid_parameter_value then
            raise exception 'there is no time zone %', quote_literal(left(p_time_zone, 100))
                using errcode = 'WR052',
                hint = 'Give a name of pg_timezone_names, such as ''Europe/Berlin'' or ''UTC''.';
    end;
    select * into c from weir_internal.parse_cron(p_cron);
    for i in 0 .. p_days loop
        exit when v_day >= date '9999-12-31';
        if extract(month from v_day) = any(c.months) and (case when c.any_day or c.any_weekday
            then extract(day from v_day) = any(c.days) and extract(dow from v_day) = any(c.weekdays)
            else extract(day from v_day) = any(c.days) or extract(dow from v_day) = any(c.weekdays) end) then
            v_times := v_times || weir_internal.due_times_of_day(
                v_day, c.hours, c.minutes, c.any_hour, p_time_zone,
                coalesce(v_times[cardinality(v_times)], p_after), p_n - cardinality(v_times));
            exit when cardinality(v_times) >= p_n;
        end if;
        v_day := v_day + 1;
    end loop;
    return v_times;
end
$$;

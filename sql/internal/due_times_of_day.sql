-- weir_internal.due_times_of_day(p_day, p_hours, p_minutes, p_any_hour, p_time_zone, p_after, p_n)
-- The next times on one day at which a cron expression is due; see weir_internal.due_times.
--
-- Parameters:
--   p_day        the day, in that time zone
--   p_hours      hours
--   p_minutes    minutes
--   p_any_hour   whether the expression leaves the hour open
--   p_time_zone  name of a time zone
--   p_after      a time
--   p_n          at most so many
-- Returns: the first due times of the day after it, ascending.
-- Raises: none
-- Locks: none
create or replace function weir_internal.due_times_of_day(
    p_day date, p_hours int[], p_minutes int[], p_any_hour boolean, p_time_zone text, p_after timestamptz, p_n int)
returns timestamptz[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from timestamptz := p_day::timestamp at time zone p_time_zone;
    v_to timestamptz := (p_day + 1)::timestamp at time zone p_time_zone;
    v_shift interval; -- how far the clock is set on, negative: back, about this day
    v_leap timestamptz;
begin
    if v_to + interval '1 day' <= p_after or (v_from at time zone p_time_zone)::date <> p_day then -- no such day there
        return '{}';
    end if;
    v_shift := (((v_to + interval '3 hours') at time zone p_time_zone)
        - ((v_from - interval '3 hours') at time zone p_time_zone)) - (v_to - v_from + interval '6 hours');
    if v_shift = interval '0' then
        return array(
            select v_from + make_interval(hours => h, mins => m)
            from unnest(p_hours) h cross join unnest(p_minutes) m
            where v_from + make_interval(hours => h, mins => m) > p_after
            order by h, m limit p_n);
    elsif p_any_hour then
        return array(
            select t
            from generate_series(v_from - interval '3 hours', v_to + interval '3 hours', interval '1 minute') t
            cross join lateral (select t at time zone p_time_zone as wall) w
            where w.wall::date = p_day and t > p_after and extract(minute from w.wall) = any(p_minutes)
                and extract(hour from w.wall) = any(p_hours)
            order by t limit p_n);
    else
        select min(t) into v_leap
        from generate_series(v_from - interval '3 hours', v_to + interval '3 hours', interval '1 minute') t
        where (t at time zone p_time_zone) - ((t - interval '1 minute') at time zone p_time_zone) > interval '1 minute';
        return array(
            select distinct d.due
            from unnest(p_hours) h cross join unnest(p_minutes) m
            cross join lateral (select p_day + make_interval(hours => h, mins => m) as wall) w
            cross join lateral (select w.wall at time zone p_time_zone as t) s
            cross join lateral (
                select case when (s.t at time zone p_time_zone) <> w.wall then v_leap
                            when ((s.t + v_shift) at time zone p_time_zone) = w.wall then s.t + v_shift -- set back
                            else s.t end as due) d
            where d.due > p_after
            order by d.due limit p_n);
    end if;
end
$$;

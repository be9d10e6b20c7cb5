-- weir_internal.following(s, p_after)
-- The next due time of a schedule.
--
-- Parameters:
--   s        the schedule; where it goes by `every`, next_at is one of its due times
--   p_after  a time
-- Returns: the first due time after it.
-- Raises: WR052
-- Locks: none
create or replace function weir_internal.following(s weir_internal.schedules, p_after timestamptz)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_next timestamptz;
    v_micros numeric := extract(epoch from s.every)::numeric * 1000000;
begin
    if s.every is not null then
        return s.next_at + (floor(extract(epoch from p_after - s.next_at)::numeric * 1000000 / v_micros) + 1) * s.every;
    end if;
    v_next := weir_internal.next_time(s.cron, s.time_zone, p_after);
    if v_next is null then
        raise exception 'cron expression "%" is never due', left(s.cron, 100)
            using errcode = 'WR052', hint = 'Look at select * from weir.next_times(''0 8 * * MON-FRI'').';
    end if;
    return v_next;
end
$$;

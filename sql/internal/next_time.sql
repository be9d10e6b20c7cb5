-- weir_internal.next_time(p_cron, p_time_zone, p_after)
-- The next time at which a cron expression is due: see weir_internal.due_times.
--
-- Parameters:
--   p_cron       the expression
--   p_time_zone  name of a time zone
--   p_after      a time
-- Returns: the first due time after it; null when there is none within nine years.
-- Raises: WR052
-- Locks: none
create or replace function weir_internal.next_time(p_cron text, p_time_zone text, p_after timestamptz)
returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (weir_internal.due_times(p_cron, p_time_zone, p_after, 1, 3300))[1];
end
$$;

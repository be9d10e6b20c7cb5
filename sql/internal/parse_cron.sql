-- weir_internal.parse_cron(p_cron)
-- Reads a cron expression of five fields: minute, hour, day of the month, month, day of the week; or a name for one.
--
-- Parameters:
--   p_cron  the expression
-- Returns: one row: the values of each field; any_hour, any_day and any_weekday, whether the field is * or ?.
-- Raises: WR052
-- Locks: none
create or replace function weir_internal.parse_cron(
    p_cron text,
    out minutes int[], out hours int[], out days int[], out months int[], out weekdays int[],
    out any_hour boolean, out any_day boolean, out any_weekday boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_names jsonb := '{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
        "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}';
    v_text text := trim(both E' \t' from p_cron);
    f text[];
begin
    f := regexp_split_to_array(upper(coalesce(v_names ->> lower(v_text), v_text)), '[ \t]+');
    if cardinality(f) is distinct from 5 then
        raise exception 'cron expression % has % fields', coalesce(quote_literal(left(p_cron, 100)), 'null'),
            coalesce(cardinality(f), 0)
            using errcode = 'WR052',
            hint = 'Give minute, hour, day of the month, month and day of the week, as in ''0 8 * * MON-FRI''; or '
                || '@hourly, @daily, @weekly, @monthly or @yearly.';
    end if;
    minutes := weir_internal.cron_field(p_cron, f[1], 'minute', 0, 59, null);
    hours := weir_internal.cron_field(p_cron, f[2], 'hour', 0, 23, null);
    days := weir_internal.cron_field(p_cron, f[3], 'day of the month', 1, 31, null);
    months := weir_internal.cron_field(p_cron, f[4], 'month', 1, 12,
        '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}');
    weekdays := weir_internal.cron_field(p_cron, f[5], 'day of the week', 0, 6, '{SUN,MON,TUE,WED,THU,FRI,SAT}');
    any_hour := f[2] ~ '(^|,)[*?](/0*1)?(,|$)';
    any_day := f[3] ~ '(^|,)[*?](/0*1)?(,|$)';
    any_weekday := f[5] ~ '(^|,)[*?](/0*1)?(,|$)';
end
$$;

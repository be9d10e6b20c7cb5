-- weir_internal.cron_field(p_cron, p_field, p_what, p_low, p_high, p_names)
-- Reads one field of a cron expression: values, names, ranges a-b, steps */n, a-b/n and a/n, and lists of them.
--
-- Parameters:
--   p_cron   the expression, for the error
--   p_field  the field, in capitals
--   p_what   what it is, for the error
--   p_low    the lowest value
--   p_high   the highest value
--   p_names  names of the values from p_low on
-- Returns: the values, ascending.
-- Raises: WR052
-- Locks: none
create or replace function weir_internal.cron_field(
    p_cron text, p_field text, p_what text, p_low int, p_high int, p_names text[])
returns int[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_part text;
    m text[];
    v_first int;
    v_last int;
    v_step int;
    v_values int[] := '{}';
begin
    foreach v_part in array string_to_array(p_field, ',') loop
        m := regexp_match(v_part, '^([*?]|[A-Z]{3}|[0-9]{1,4})(-([A-Z]{3}|[0-9]{1,4}))?(/([0-9]{1,4}))?$');
        v_step := coalesce(m[5]::int, 1);
        if m[1] in ('*', '?') then
            v_first := case when m[2] is null then p_low end;
            v_last := p_high;
        else
            v_first := case when m[1] ~ '^[0-9]' then m[1]::int else array_position(p_names, m[1]) - 1 + p_low end;
            v_last := case when m[2] is null and m[4] is not null then p_high when m[2] is null then v_first
                when m[3] ~ '^[0-9]' then m[3]::int else array_position(p_names, m[3]) - 1 + p_low end;
        end if;
        -- 7 is a Sunday too
        if (v_first between p_low and v_last and v_last <= p_high + (p_what = 'day of the week')::int and v_step > 0)
            is not true then
            raise exception 'cron expression "%": % is not a %', left(p_cron, 100), quote_literal(v_part), p_what
                using errcode = 'WR052', hint = format(
                    'Give %s to %s%s; as value, a-b, */n, a-b/n, or a list of those with commas.', p_low, p_high,
                    case when cardinality(p_names) > 0
                        then format(', or %s to %s', p_names[1], p_names[cardinality(p_names)]) else '' end);
        end if;
        v_values := v_values || array(select n from generate_series(v_first, v_last, v_step) n);
    end loop;
    return array(select distinct case when n > p_high then p_low else n end from unnest(v_values) n order by 1);
end
$$;

-- weir_internal.check_group_settings(g)
-- Refuses settings that a group cannot have.
--
-- Parameters:
--   g  the group as it would be
-- Returns: nothing.
-- Raises: WR006, WR060
-- Locks: none
create or replace function weir_internal.check_group_settings(g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if g.max_attempts is null or g.max_attempts not between 1 and 1000
        or g.backoff_min is null or g.backoff_min < interval '0'
        or g.backoff_max is null or g.backoff_max < g.backoff_min or g.backoff_max > interval '1 year'
        or g.ordered is null then
        raise exception
            'group "%": max_attempts %, backoff_min %, backoff_max % or ordered % is out of range', g.name,
            g.max_attempts, g.backoff_min, g.backoff_max, g.ordered
            using errcode = 'WR006',
            hint = 'max_attempts: 1 to 1000; 0 <= backoff_min <= backoff_max <= 1 year.';
    end if;
    if g.concurrency_max not between 1 and 10000 or g.key_concurrency_max not between 1 and 10000 or g.fair is null
        or g.rate_max not between 1 and 1000000
        or g.rate_period is null or g.rate_period not between interval '1 millisecond' and interval '30 days' then
        raise exception
            'group "%": concurrency_max %, key_concurrency_max %, rate_max %, rate_period % or fair % is out of range',
            g.name, coalesce(g.concurrency_max::text, 'none'), coalesce(g.key_concurrency_max::text, 'none'),
            coalesce(g.rate_max::text, 'none'), g.rate_period, g.fair
            using errcode = 'WR006',
            hint = 'concurrency_max, key_concurrency_max: 1 to 10,000; rate_max: 1 to 1,000,000; each 0: no limit; '
                'rate_period: 1 millisecond to 30 days; fair: true or false.';
    end if;
    if g.ordered and (g.fair or g.key_concurrency_max is not null) then
        raise exception 'group "%" is ordered, and cannot have key_concurrency_max % or fair %', g.name,
            coalesce(g.key_concurrency_max::text, 'none'), g.fair
            using errcode = 'WR060',
            hint = 'An ordered group works at one message of a key at a time already. Leave them out, or ordered.';
    end if;
end
$$;

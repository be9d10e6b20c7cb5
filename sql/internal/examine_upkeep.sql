-- weir_internal.examine_upkeep()
-- Whether maintain is called, and whether the clock goes on.
--
-- Returns: findings, see weir.doctor.
-- Raises: none
-- Locks: none
create or replace function weir_internal.examine_upkeep()
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_last timestamptz := greatest((select installed_at from weir_internal.installation),
        timestamptz 'epoch' + pg_sequence_last_value('weir_internal.maintained_at') * interval '1 microsecond');
begin
    if v_last > v_now + interval '1 second' then
        return next row('error', 'clock_went_back', null, null, date_trunc('second', v_last - v_now)::text,
            'The server''s clock shows less than before. Leases last longer, delayed messages come later, by as much.',
            'Keep the clock synchronised by slewing, not by steps.')::weir.finding;
    elsif v_last < v_now - interval '5 minutes' and (
            select sum(pg_relation_size(to_regclass(format('%s.log_%s', l.schema_name, k))))
            from weir_internal.logs l cross join generate_series(0, 2) k) > 0 then
        return next row('warning', 'no_maintenance', null, null, date_trunc('second', v_now - v_last)::text,
            'weir.maintain() has not been called for so long: no space is given back, and no schedule fires by it.',
            'Have it called every second, by weir serve, an SDK worker or pg_cron, and look for errors there.'
            )::weir.finding;
    end if;
end
$$;

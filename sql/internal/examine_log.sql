-- weir_internal.examine_log(l), weir_internal.examine_relations(l)
-- What is wrong with a log, whatever queues it has: see weir.doctor. examine_relations: whether its tables, indexes and
-- functions are as they were made.
--
-- Parameters:
--   l  the log
-- Returns: findings.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.examine_log(l weir_internal.logs)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    b record;
    v_has_base boolean;
    v_bytes bigint;
    v_now timestamptz := weir_internal.clock();
    v_maintained timestamptz := timestamptz 'epoch'
        + pg_sequence_last_value('weir_internal.maintained_at') * interval '1 microsecond';
begin
    return query select * from weir_internal.examine_relations(l);
    if found then
        return;
    end if;
    execute format('select exists (select from %s.claims_2 where kind = ''c'' and group_no = 0)', l.schema_name)
    into v_has_base;
    if not v_has_base then
        return next row('error', 'unreadable', null, null, 'log ' || l.name,
            'The claim log has lost its base: no receive knows where to begin.',
            'Something deleted rows of the claim log. Restore the database.')::weir.finding;
        return;
    end if;
    execute format('select * from %s.rotation_blocker('''')', l.schema_name) into b;
    if b.age > interval '1 minute' or b.what ~ '^prepared' then
        return next row('warning', 'transaction_keeps_segment', null, null, b.what,
            format('It has been open for %s; what it touched of the log "%s" cannot be given back. Last statement: %s',
                date_trunc('second', b.age), l.name, left(b.query, 200)),
            case when b.what ~ '^pg_dump' then
                'Wait for the dump to end. If it is none, give the session another application_name.'
            else coalesce(format('End it: select pg_terminate_backend(%s).', b.pid),
                'COMMIT PREPARED or ROLLBACK PREPARED it.') end)::weir.finding;
    end if;
    v_bytes := (select sum(pg_relation_size(format('%s.log_%s', l.schema_name, k))) from generate_series(0, 2) k);
    if v_maintained > v_now + interval '1 second' then
        return next row('error', 'clock_went_back', null, null, date_trunc('second', v_maintained - v_now)::text,
            'The server''s clock shows less than before. Leases last longer, delayed messages come later, by as much.',
            'Keep the clock synchronised by slewing, not by steps.')::weir.finding;
    elsif v_bytes > 0 and greatest(v_maintained, l.created_at) < v_now - interval '5 minutes' then
        return next row('warning', 'no_maintenance', null, null,
            date_trunc('second', v_now - greatest(v_maintained, l.created_at))::text,
            'weir.maintain() has not been called for so long: no space is given back, and no schedule fires by it.',
            'Have it called every second, by weir serve, an SDK worker or pg_cron, and look for errors there.'
            )::weir.finding;
    end if;
end
$$;
create or replace function weir_internal.examine_relations(l weir_internal.logs)
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_found text;
begin
    select string_agg(n.name, ', ' order by n.name) into v_found
    from weir_internal.log_relations() r
    cross join lateral (
        select r.relation_name as name
        union all
        select m[1] from regexp_matches(r.definition, 'index (\w+) on', 'g') m) n
    where not exists (select from pg_class c left join pg_index i on i.indexrelid = c.oid
                      where c.relnamespace = to_regnamespace(l.schema_name) and c.relname = n.name
                          and i.indisvalid is not false);
    if v_found is not null then
        return next row('error', 'relation_missing', null, null, left(v_found, 200),
            format('Tables, indexes or sequences of the log "%s" (schema %s) are not there or not valid.', l.name,
                l.schema_name),
            'Something changed the engine''s schema by hand. Restore them.')::weir.finding;
    end if;
    select string_agg(c.relname, ', ' order by c.relname) into v_found from pg_class c
    where c.relnamespace = to_regnamespace(l.schema_name) and c.relkind = 'r'
        and (c.relhastriggers or c.relrowsecurity or c.relhassubclass
            or c.relpersistence <> case when l.unlogged and c.relname ~ '^(log_[0-2]|rest)$' then 'u' else 'p' end);
    if v_found is not null then
        return next row('error', 'table_changed', null, null, v_found,
            format('These tables of the log "%s" are logged otherwise than it is, inherited from, or have triggers or row '
                'security. Messages may be lost.', l.name),
            'Undo it: alter table ... set logged, drop trigger, disable row level security.')::weir.finding;
    end if;
    select string_agg(p.proname, ', ' order by p.proname) into v_found
    from pg_proc p
    left join pg_proc o on o.pronamespace = to_regnamespace(l.schema_name) and o.proname = p.proname
        and o.prosrc = regexp_replace(p.prosrc, '\mweir_log\M', l.schema_name, 'g')
    where p.pronamespace = 'weir_log'::regnamespace and o.oid is null;
    if v_found is not null then
        return next row('error', 'functions_not_ours', null, null, left(v_found, 200),
            format('These functions of the log "%s" are not those of the log "main".', l.name),
            'Run weir install, or sql/install.sql, again: it makes them anew.')::weir.finding;
    end if;
end
$$;

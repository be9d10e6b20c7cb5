-- weir_internal.examine_relations(l)
-- Whether the tables, indexes and functions of a log are as they were made.
--
-- Parameters:
--   l  the log
-- Returns: findings, see weir.doctor.
-- Raises: none
-- Locks: none
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
            format('These tables of the log "%s" are logged otherwise than it is, inherited from, or have triggers or '
                'row security. Messages may be lost.', l.name),
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

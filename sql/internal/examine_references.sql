-- weir_internal.examine_references()
-- Whether the references between tables hold. Triggers keep them, and those do not run for a session whose
-- session_replication_role is replica, nor once somebody has disabled them.
--
-- Returns: findings, see weir.doctor.
-- Raises: none
-- Locks: none
create or replace function weir_internal.examine_references()
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    f record;
    v_rows bigint;
begin
    for f in
        select coalesce('role ' || r.rolname, 'database') as who, c.setting
        from pg_db_role_setting s
        left join pg_roles r on r.oid = s.setrole
        cross join lateral unnest(s.setconfig) as c (setting)
        where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
            and c.setting ~ '^session_replication_role='
            and c.setting !~ '=origin$'
    loop
        return next row('error', 'triggers_off', null, null, f.who || ': ' || f.setting,
            'References between tables are not kept there: what is dropped leaves rows behind.',
            'Set session_replication_role to origin.')::weir.finding;
    end loop;
    for f in
        select distinct t.tgrelid::regclass as table_name from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where c.relnamespace = 'weir_internal'::regnamespace and t.tgenabled = 'D' order by 1
    loop
        return next row('error', 'triggers_off', null, null, f.table_name,
            'Somebody has disabled triggers of the table: references to it are not kept.',
            format('alter table %s enable trigger all;', f.table_name))::weir.finding;
    end loop;
    for f in
        select k.conrelid::regclass as child, k.confrelid::regclass as parent, a.attname as child_column,
            b.attname as parent_column
        from pg_constraint k
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = k.confkey[1]
        where k.contype = 'f' and k.connamespace = 'weir_internal'::regnamespace and cardinality(k.conkey) = 1
        order by 1, 2
    loop
        execute format(
            'select count(*) from %1$s c
             where c.%4$I is not null and not exists (select from %2$s p where p.%3$I = c.%4$I)',
            f.child, f.parent, f.parent_column, f.child_column) into v_rows;
        if v_rows > 0 then
            return next row('error', 'orphans', null, null, format('%s rows of %s', v_rows, f.child),
                format('They refer to rows of %s that are gone: something was dropped while '
                    'session_replication_role was replica.', f.parent),
                format('delete from %1$s c where c.%4$I is not null '
                        'and not exists (select from %2$s p where p.%3$I = c.%4$I);',
                    f.child, f.parent, f.parent_column, f.child_column))::weir.finding;
        end if;
    end loop;
end
$$;

-- weir_internal.examine_database()
-- What is wrong with the database or the server, for the engine, and with its logs: see weir.doctor.
--
-- Returns: findings.
-- Raises: none
-- Locks: as weir_internal.examine_log.
create or replace function weir_internal.examine_database()
returns setof weir.finding
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    f record;
    l weir_internal.logs;
    v_found weir.finding[];
    v_now timestamptz := weir_internal.clock();
    v_schemas oid[] := array(
        select oid from pg_namespace where nspname in ('weir', 'weir_internal', 'weir_gates')
            or nspname in (select schema_name from weir_internal.logs));
    v_database oid := (select oid from pg_database where datname = current_database());
begin
    for f in
        select coalesce('role ' || r.rolname, 'database') as who, c.setting
        from pg_db_role_setting s
        left join pg_roles r on r.oid = s.setrole
        cross join lateral unnest(s.setconfig) as c (setting)
        where s.setdatabase in (0, v_database) and c.setting ~ '^default_transaction_isolation='
            and c.setting !~ '=read (un)?committed$'
        union all
        select 'this session', 'default_transaction_isolation=' || current_setting('default_transaction_isolation')
        where current_setting('default_transaction_isolation') !~ '^read'
    loop
        return next row('error', 'isolation', null, null, f.who || ': ' || f.setting,
            'Calls of receive, ack and most others are refused there.',
            'Set default_transaction_isolation to read committed.')::weir.finding;
    end loop;
    if current_setting('autovacuum') = 'off' or current_setting('track_counts') = 'off' then
        return next row('warning', 'autovacuum_off', null, null, null,
            'Dead rows of what is delayed, parked and dead stay, and nothing prevents wraparound.',
            'Set autovacuum and track_counts to on.')::weir.finding;
    end if;
    select age(datfrozenxid)::bigint as age into f from pg_database where oid = v_database;
    if f.age > 2 * current_setting('autovacuum_freeze_max_age')::bigint then
        return next row('error', 'wraparound', null, null, f.age || ' transactions',
            'The database has not been frozen for so long; beyond 2 billion it stops.',
            'See that autovacuum runs, end the oldest transactions, then VACUUM FREEZE.')::weir.finding;
    end if;
    if not exists (select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)) then
        return next row('info', 'no_lz4', null, null, null,
            'This server is built without lz4, so that payloads are stored uncompressed.',
            'Nothing need be done.')::weir.finding;
    end if;
    for f in
        select format('function %s', p.oid::regprocedure) as what from pg_proc p, aclexplode(p.proacl) a
        where p.pronamespace = any(v_schemas) and a.grantee = 0
        union all
        select format('function %s', p.oid::regprocedure) from pg_proc p
        where p.pronamespace = any(v_schemas) and p.proacl is null
        union all
        select format('table %s', c.oid::regclass) from pg_class c, aclexplode(c.relacl) a
        where c.relnamespace = any(v_schemas) and a.grantee = 0
        union all
        select format('schema %s', n.nspname) from pg_namespace n, aclexplode(n.nspacl) a
        where n.oid = any(v_schemas) and a.grantee = 0
    loop
        return next row('error', 'public_right', null, null, f.what, 'PUBLIC, which is everybody, may use it.',
            format('revoke all on %s from public;', f.what))::weir.finding;
    end loop;
    for f in
        select t.relname, t.n_dead_tup from pg_stat_user_tables t
        where to_regnamespace(quote_ident(t.schemaname)) = any(v_schemas)
            and t.n_dead_tup > greatest(10000, t.n_live_tup)
    loop
        return next row('warning', 'dead_rows', null, null, f.n_dead_tup || ' in ' || f.relname,
            'More dead rows than live ones: reading it takes longer than it should.',
            'End the transactions that are open for long, and see that autovacuum comes round.')::weir.finding;
    end loop;
    for f in
        select format('process %s of %s', pid, usename) as what, v_now - xact_start as age, left(query, 200) as query,
            format('select pg_terminate_backend(%s);', pid) as cure
        from pg_stat_activity
        where datid = v_database and pid <> pg_backend_pid() and backend_type = 'client backend'
            and xact_start < v_now - interval '1 hour'
        union all
        select format('prepared transaction %L', gid), v_now - prepared, null, format('rollback prepared %L;', gid)
        from pg_prepared_xacts where database = current_database() and prepared < v_now - interval '10 minutes'
    loop
        return next row('warning', 'old_transaction', null, null, f.what,
            format('Open for %s. It delays what it touched, and keeps dead rows in every table. Last statement: %s',
                date_trunc('second', f.age), coalesce(f.query, 'unknown')), 'End it: ' || f.cure)::weir.finding;
    end loop;
    for f in
        select slot_name, case when active then 'keeps dead rows' else 'inactive, keeps WAL' end as what
        from pg_replication_slots
        where not active or age(coalesce(xmin, catalog_xmin)) > current_setting('autovacuum_freeze_max_age')::bigint
    loop
        return next row('warning', 'replication_slot', null, null, f.slot_name, 'The slot is ' || f.what || '.',
            format('Start its consumer, or select pg_drop_replication_slot(%L);', f.slot_name))::weir.finding;
    end loop;
    for f in
        select h.pid, h.role_name from weir_internal.lock_holders() h where h.group_no is null
    loop
        return next row('error', 'foreign_lock', null, null, format('process %s of %s', f.pid, f.role_name),
            'It holds an advisory lock of Weir''s for longer than any call does: what the lock guards stands still, '
                'such as the acks of a claim, the administration of a queue, or the upkeep of a log.',
            format('End it: select pg_terminate_backend(%s); then see what that program locks, and with which key.',
                f.pid))::weir.finding;
    end loop;
    return query select * from weir_internal.examine_references();
    return query select * from weir_internal.examine_upkeep();
    for l in select * from weir_internal.logs w where w.origin = weir_internal.origin_of(w.schema_name) loop
        begin
            v_found := array(select e from weir_internal.examine_log(l) e);
        exception
            when others then
                if exists (select from weir_internal.logs w where w.no = l.no) then
                    raise;
                end if;
        end;
        -- else it was dropped meanwhile: seen by a snapshot, since a lookup by name may not know of it yet
        if exists (select from weir_internal.logs w where w.no = l.no) then
            return query select e.* from unnest(v_found) e;
        end if;
    end loop;
end
$$;

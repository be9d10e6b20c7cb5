-- Weir: removes the engine with all its queues and messages from the current database. Run by `weir uninstall --yes`,
-- or by psql outside a transaction:
--     psql -v ON_ERROR_STOP=1 -f sql/uninstall.sql
-- One statement, but in several transactions, so that no number of gates takes more locks than there are. When it is
-- interrupted, run it again. It removes nothing that is not the engine's: while a view or a
-- function of somebody else needs something of the engine, it refuses (WR022).
do $$
declare
    v_schemas oid[] := array(select oid from pg_namespace where nspname ~ '^weir(_internal|_gates|_log(_.*)?)?$');
    v_others text;
    v_gates regprocedure[];
    v_gate regprocedure;
    v_schema name;
begin
    select string_agg(distinct pg_describe_object(d.classid, d.objid, d.objsubid), ', ')
    into v_others
    from pg_depend d
    where d.deptype = 'n'
        and ((d.refclassid, d.refobjid) in (select 'pg_proc'::regclass, oid from pg_proc
                                            where pronamespace = any(v_schemas))
             or (d.refclassid, d.refobjid) in (select 'pg_type'::regclass, oid from pg_type
                                               where typnamespace = any(v_schemas))
             or (d.refclassid, d.refobjid) in (select 'pg_class'::regclass, oid from pg_class
                                               where relnamespace = any(v_schemas)))
        and coalesce(
            (select relnamespace from pg_class where d.classid = 'pg_class'::regclass and oid = d.objid),
            (select pronamespace from pg_proc where d.classid = 'pg_proc'::regclass and oid = d.objid),
            (select typnamespace from pg_type where d.classid = 'pg_type'::regclass and oid = d.objid),
            (select connamespace from pg_constraint where d.classid = 'pg_constraint'::regclass and oid = d.objid),
            (select relnamespace from pg_rewrite r join pg_class c on c.oid = r.ev_class
             where d.classid = 'pg_rewrite'::regclass and r.oid = d.objid),
            (select relnamespace from pg_attrdef a join pg_class c on c.oid = a.adrelid
             where d.classid = 'pg_attrdef'::regclass and a.oid = d.objid),
            (select relnamespace from pg_trigger t join pg_class c on c.oid = t.tgrelid
             where d.classid = 'pg_trigger'::regclass and t.oid = d.objid)) <> all(v_schemas);
    if v_others is not null then
        raise exception 'others depend on the engine: %', v_others
            using errcode = 'WR022', hint = 'Drop them first, or change them so that they need nothing of Weir.';
    end if;
    loop
        perform pg_advisory_xact_lock(22373::bigint << 48); -- no install at the same time
        v_gates := array(
            select oid::regprocedure from pg_proc where pronamespace = to_regnamespace('weir_gates') limit 500);
        exit when v_gates = '{}';
        foreach v_gate in array v_gates loop
            execute format('drop function %s', v_gate);
        end loop;
        commit;
    end loop;
    for v_schema in
        select nspname from pg_namespace where oid = any(v_schemas) and nspname ~ '^weir_log_'
    loop
        execute format('drop schema %I cascade', v_schema);
    end loop;
    drop schema if exists weir, weir_gates, weir_log, weir_internal cascade;
end
$$;

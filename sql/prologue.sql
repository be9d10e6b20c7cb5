-- Beginning of an install or upgrade: one at a time, never over a newer release. The release and the schema version of
-- these files stand here and nowhere else in SQL.
set client_min_messages = warning;
set local weir.release = '0.3.0';
set local weir.schema_version = '3'; -- the number of the last step in upgrade/
do $$
declare
    v_head int := current_setting('weir.schema_version');
    v_version int := v_head;
    v_release text;
begin
    if current_setting('server_version_num')::int < 140000 then
        raise exception 'PostgreSQL % is too old', current_setting('server_version')
            using errcode = 'WR015', hint = 'Weir needs PostgreSQL 14 or later.';
    end if;
    perform pg_advisory_xact_lock(22373::bigint << 48);
    perform pg_advisory_xact_lock(22399::bigint << 48); -- weir_internal.rights_lock
    if to_regclass('weir_internal.installation') is not null then
        select schema_version, version into v_version, v_release from weir_internal.installation;
        if v_version > v_head then
            raise exception 'this database has schema version %, these files have %', v_version, v_head
                using errcode = 'WR013', hint = 'Install with the newer release that this database was upgraded by.';
        elsif v_version < 3 then
            raise exception 'release % in this database cannot be upgraded', v_release
                using errcode = 'WR015', hint = 'Install into another database, and let consumers finish this one.';
        end if;
    end if;
    perform set_config('weir.upgrade_from', v_version::text, true);
end
$$;
create schema if not exists weir;
create schema if not exists weir_internal;
create schema if not exists weir_log;
create schema if not exists weir_gates;
revoke all on schema weir, weir_internal, weir_log, weir_gates from public;
-- The functions that are here, and who was granted them: see the epilogue. It drops this table again.
create table weir_internal.functions_before as
select p.oid, p.ctid as place, p.pronamespace, p.proname, p.proowner, p.proacl
from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname ~ '^weir(_internal|_log(_.*)?)?$';

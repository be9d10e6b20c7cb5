-- Beginning of an install or upgrade: one at a time, never over a newer release.
set client_min_messages = warning;
do $$
declare
    v_version int;
begin
    if current_setting('server_version_num')::int < 140000 then
        raise exception 'PostgreSQL % is too old', current_setting('server_version')
            using errcode = 'WR015', hint = 'Weir needs PostgreSQL 14 or later.';
    end if;
    perform pg_advisory_xact_lock(22373::bigint << 48);
    perform pg_advisory_xact_lock(22373 << 16, -1); -- lock_class(0): no queue is created, no right changed
    if to_regclass('weir_internal.installation') is not null then
        select schema_version into v_version from weir_internal.installation;
        if v_version > 1 then
            raise exception 'this database has schema version %, these files have 1', v_version
                using errcode = 'WR013', hint = 'Install with the newer release that this database was upgraded by.';
        end if;
    end if;
end
$$;
create schema if not exists weir;
create schema if not exists weir_internal;
revoke all on schema weir, weir_internal from public;

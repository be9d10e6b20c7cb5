-- weir.create_log(log_name, unlogged, segment_bytes, claims_bytes, retention)
-- Creates a log: storage of its own for queues that shall not share that of others, or not its settings.
--
-- Parameters:
--   log_name       1 to 40 of a-z, 0-9 and _, the first a letter
--   unlogged       its messages need not survive a crash of PostgreSQL: they are lost then, and sending costs less; it
--                  cannot be changed
--   segment_bytes  a segment is closed beyond this size, 64 KiB to 1 TiB
--   claims_bytes   a table of the claim log is left beyond this size, 64 KiB to 1 TiB
--   retention      what all groups have finished is kept so long at least, for seek; up to 10 years
-- Returns: true when it was made, false when it was there with these settings.
-- Raises: WR002, WR005, WR006
-- Locks: an advisory lock on the name, until the transaction ends.
create or replace function weir.create_log(
    log_name text,
    unlogged boolean default false,
    segment_bytes bigint default 67108864,
    claims_bytes bigint default 16777216,
    retention interval default '0')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    l weir_internal.logs;
    o weir_internal.logs;
begin
    l.name := log_name;
    l.schema_name := 'weir_log_' || log_name;
    l.unlogged := unlogged;
    l.segment_bytes := segment_bytes;
    l.claims_bytes := claims_bytes;
    l.retention := retention;
    perform weir_internal.check_log_settings(l);
    perform pg_advisory_xact_lock(weir_internal.name_lock('log ' || log_name));
    select * into o from weir_internal.logs w where w.name = log_name;
    if found then
        if (o.unlogged, o.segment_bytes, o.claims_bytes, o.retention)
            is distinct from (l.unlogged, l.segment_bytes, l.claims_bytes, l.retention) then
            raise exception 'log "%" is there with other settings', log_name
                using errcode = 'WR002', hint = 'weir.list_logs() tells them, weir.configure_log changes them.';
        end if;
        return false;
    end if;
    execute format('create schema %s', l.schema_name);
    perform weir_internal.create_log_relations(l.schema_name, unlogged);
    perform weir_internal.create_log_functions(l.schema_name);
    insert into weir_internal.logs
        (no, name, schema_name, origin, unlogged, segment_bytes, claims_bytes, retention)
    values (nextval('weir_internal.log_numbers'), l.name, l.schema_name, weir_internal.origin_of(l.schema_name),
        l.unlogged, l.segment_bytes, l.claims_bytes, l.retention);
    return true;
end
$$;

-- Beginning of an install of the face: the engine must be there, and no PGMQ. The face's queues are in a log of their
-- own, whose tables have more indexes than others' have: see indexes.sql.
set client_min_messages = warning;
do $$
begin
    if to_regprocedure('weir.version()') is null then
        raise exception 'there is no engine in this database'
            using errcode = 'WR015', hint = 'Run weir install first.';
    end if;
    perform pg_advisory_xact_lock(22373::bigint << 48); -- no install at the same time
    if to_regnamespace('pgmq') is not null
        and obj_description(to_regnamespace('pgmq'), 'pg_namespace') is distinct from 'Weir''s face of PGMQ 1.13' then
        raise exception 'there is a schema pgmq that is not Weir''s'
            using errcode = 'WR006',
            hint = 'It is PGMQ''s own. Drop its extension or rename its schema before the face takes its place.';
    end if;
    perform weir.create_log('pgmq') where not exists (select from weir.list_logs() l where l.log_name = 'pgmq');
end
$$;
create schema if not exists pgmq;

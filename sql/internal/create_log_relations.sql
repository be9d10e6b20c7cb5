-- weir_internal.create_log_relations(p_schema, p_unlogged)
-- Creates the tables and sequences of a log that are not there yet, and its first segment.
--
-- Rows of the log are appended and truncated, never updated or deleted, and no plan depends on statistics, so
-- autovacuum has nothing to do there but against wraparound. A record that does not fit into a page is compressed by
-- lz4, and so are the ids of a claim that are scattered. A server that was built without lz4 has only pglz, which takes
-- as long for a batch of 100 messages of 1 KB as all the rest of their send: there both stay as they are.
--
-- Parameters:
--   p_schema    the log's schema
--   p_unlogged  its messages need not survive a crash of PostgreSQL
-- Returns: nothing.
-- Raises: none
-- Locks: none but on the new relations.
create or replace function weir_internal.create_log_relations(p_schema text, p_unlogged boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lz4 boolean := exists (
        select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals));
    r record;
begin
    for r in select * from weir_internal.log_relations() loop
        continue when to_regclass(p_schema || '.' || r.relation_name) is not null;
        execute replace(r.definition, '%s', p_schema);
        if p_unlogged and r.relation_name ~ '^(log_[0-2]|rest)$' then
            execute format('alter table %s.%s set unlogged', p_schema, r.relation_name);
        end if;
        if r.relation_name ~ '^waiting_' and current_setting('server_version_num')::int >= 150000 then
            -- a crash ends all who wait, so their mark is not worth a WAL record and a flush each time
            execute format('alter sequence %s.%s set unlogged', p_schema, r.relation_name);
        end if;
        if r.relation_name ~ '^(log_[0-2]|rest)$' then
            execute format(case when v_lz4
                then 'alter table %s.%s alter payloads set storage main, alter payloads set compression lz4,
                          alter bodies set storage main, alter bodies set compression lz4,
                          alter headers set storage main, alter headers set compression lz4'
                else 'alter table %s.%s alter payloads set storage external, alter bodies set storage external,
                          alter headers set storage external' end,
                p_schema, r.relation_name);
        elsif r.relation_name ~ '^claims_[01]$' then
            execute format(case when v_lz4
                then 'alter table %s.%s alter ids set compression lz4'
                else 'alter table %s.%s alter ids set storage external, set (toast_tuple_target = 8160)' end,
                p_schema, r.relation_name);
        end if;
        if r.kind = 'sequence' then
            perform setval(p_schema || '.' || r.relation_name, 0);
        end if;
    end loop;
    execute format(
        'insert into %1$s.segments (no, opened_by)
         select n, pg_current_xact_id() from generate_series(1, 2) n
         where not exists (select from %1$s.segments)', p_schema);
    if pg_sequence_last_value(to_regclass(p_schema || '.log_ring')) = 0 then
        for k in 1 .. 2 loop
            perform setval(format('%s.log_%s_segment', p_schema, k), k);
        end loop;
        perform setval(p_schema || '.log_ring', 1);
        execute format(
            'insert into %1$s.claims_0 (kind, id, group_no, lane, stripe, prev, cur, lo, seg, txid, pos, finished,
                 due_at, due_id, low, next_expiry)
             values (''c'', 0, 0, 0, 1, ''1:1:'', ''1:1:'', 1, 1, ''0'', 0, true, ''-infinity'', 0, 0, ''infinity'')',
            p_schema);
    end if;
end
$$;

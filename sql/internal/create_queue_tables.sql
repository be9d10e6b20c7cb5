-- weir_internal.create_queue_tables(q)
-- Creates a queue's tables, sequences and the view over both tables of the claim log. Rows of the rings are appended
-- and truncated, never updated or deleted, and no plan depends on statistics, so autovacuum has nothing to do there but
-- against wraparound.
--
-- A record that does not fit into a page is compressed by lz4, and so are the ids of a claim that are scattered, from
-- 2 KB on. A server that was built without lz4 has only pglz, which takes as long for a batch of 100 messages of 1 KB
-- as all the rest of their send, and for 100 ids a sixth of their receive: there both stay as they are, and ids that
-- do not fit into a page are moved out of the row.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none but on the new tables.
create or replace function weir_internal.create_queue_tables(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lz4 boolean := exists (
        select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals));
    v_table text;
begin
    for k in 0 .. 2 loop
        v_table := format('weir_internal.q%s_log_%s', q.no, k);
        execute format(
            'create table %s of weir_internal.log_record (
                 txid with options default pg_current_xact_id() not null,
                 id with options not null, n with options not null, lane with options not null,
                 payloads with options not null)
             with (autovacuum_enabled = false, toast.autovacuum_enabled = false, toast_tuple_target = 8160)', v_table);
        execute format(case when v_lz4
            then 'alter table %s alter payloads set storage main, alter headers set storage main,
                      alter payloads set compression lz4, alter headers set compression lz4'
            else 'alter table %s alter payloads set storage external, alter headers set storage external' end, v_table);
        execute format('create index q%s_log_%s_order on %s (lane, txid, id)', q.no, k, v_table);
    end loop;
    for k in 0 .. 1 loop
        v_table := format('weir_internal.q%s_claims_%s', q.no, k);
        execute format(
            'create table %s of weir_internal.claim (
                 slot with options not null, what with options not null, id with options not null)
             with (autovacuum_enabled = false, toast.autovacuum_enabled = false)', v_table);
        execute format(case when v_lz4
            then 'alter table %s alter ids set compression lz4'
            else 'alter table %s alter ids set storage external, set (toast_tuple_target = 8160)' end, v_table);
        execute format('create index q%s_claims_%s_order on %s (slot, what, id)', q.no, k, v_table);
    end loop;
    execute format(
        'create view weir_internal.q%1$s_claims_2 as
         select * from weir_internal.q%1$s_claims_0 union all select * from weir_internal.q%1$s_claims_1', q.no);
    execute format(
        'create table weir_internal.q%1$s_later of weir_internal.later_row (
             txid with options not null, due_at with options not null, id with options not null,
             payload with options not null)', q.no);
    execute format('create index q%1$s_later_due on weir_internal.q%1$s_later (due_at, id)', q.no);
    execute format('create index q%1$s_later_txid on weir_internal.q%1$s_later (txid, due_at, id)', q.no);
    execute format('create index q%1$s_later_id on weir_internal.q%1$s_later (id)', q.no);
    execute format(
        'create table weir_internal.q%1$s_parked of weir_internal.parked_row (
             group_id with options not null, line with options not null, no with options not null,
             id with options not null, payload with options not null)', q.no);
    execute format('create index q%1$s_parked_line on weir_internal.q%1$s_parked (group_id, line, no)', q.no);
    execute format('create index q%1$s_parked_lane on weir_internal.q%1$s_parked (group_id, lane, line)', q.no);
    execute format('create index q%1$s_parked_id on weir_internal.q%1$s_parked (group_id, id)', q.no);
    execute format(
        'create index q%1$s_parked_due on weir_internal.q%1$s_parked (group_id, due_at, no)
         where holder is null and due_at is not null', q.no);
    execute format('create sequence weir_internal.q%s_ids', q.no);
    execute format('create sequence weir_internal.q%s_claim_ids', q.no);
    foreach v_table in array array['log_ring', 'claims_ring', 'later_clock', 'cancels'] loop
        execute format('create sequence weir_internal.q%s_%s minvalue 0', q.no, v_table);
    end loop;
    -- a crash ends all who wait, so their mark is not worth a WAL record and a flush each time
    execute format(
        'create %s sequence weir_internal.q%s_waiting minvalue 0',
        case when current_setting('server_version_num')::int >= 150000 then 'unlogged' end, q.no);
    perform weir_internal.start_rings(q);
end
$$;

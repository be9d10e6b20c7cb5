-- pgmq._open_queue(p_queue, p_partitioned, p_unlogged)
-- Makes what a queue of PGMQ is made of, as far as it is not there: the engine's queue, the sequence of its ids, the
-- view q_, and the archive, a table a_.
--
-- Parameters:
--   p_queue        name of the queue
--   p_partitioned  what pgmq.meta shall tell
--   p_unlogged     likewise
-- Returns: nothing; what is there already is told by a NOTICE, as PGMQ does.
-- Raises: P0001
-- Locks: that of pgmq.acquire_queue_lock; those of create table and create view.
create or replace function pgmq._open_queue(p_queue text, p_partitioned boolean, p_unlogged boolean)
returns void
language plpgsql
as $$
declare
    v_view text := pgmq.format_table_name(p_queue, 'q');
    v_archive text := pgmq.format_table_name(p_queue, 'a');
    v_name text := 'pgmq.' || lower(p_queue);
    v_there boolean;
begin
    if p_queue is null then
        perform pgmq._fail_unknown(p_queue);
    end if;
    perform pgmq.validate_queue_name(p_queue);
    perform pgmq.acquire_queue_lock(p_queue);
    v_there := exists (select from weir_internal.queues q where q.name = v_name);
    if v_there then
        raise notice 'relation "%" already exists, skipping', v_view using errcode = '42P07';
    else
        -- PGMQ takes names that the engine does not, so it is renamed
        perform weir.create_queue('pgmq-' || md5(v_name), log => 'pgmq', dedup_window => '0');
        update weir_internal.groups g set max_attempts = 2147483647
        from weir_internal.queues q where q.name = 'pgmq-' || md5(v_name) and g.queue_no = q.no;
        -- a limit of 0 keeps out what does not number its messages as the face does
        update weir_internal.queues q set name = v_name, message_bytes_max = 0 where q.name = 'pgmq-' || md5(v_name);
    end if;
    if to_regclass(format('pgmq.%I', v_view)) is null then
        execute format('create sequence if not exists %s', pgmq._sequence(p_queue));
        execute format('create view pgmq.%I as select * from pgmq._list(%L)', v_view, lower(p_queue));
        execute format('create trigger write_view instead of insert or update or delete on pgmq.%I '
            'for each row execute function pgmq._write_view(%L)', v_view, lower(p_queue));
    end if;
    execute format(
        'create table if not exists pgmq.%I (
             msg_id bigint primary key,
             read_ct int default 0 not null,
             enqueued_at timestamptz default now() not null,
             last_read_at timestamptz,
             archived_at timestamptz default now() not null,
             vt timestamptz not null,
             message jsonb,
             headers jsonb)', v_archive);
    if v_there then
        raise notice 'relation "%" already exists, skipping', v_view || '_vt_idx' using errcode = '42P07';
    end if;
    execute format('create index if not exists %I on pgmq.%I (archived_at)', 'archived_at_idx_' || p_queue, v_archive);
    insert into pgmq.meta (queue_name, is_partitioned, is_unlogged)
    values (p_queue, p_partitioned, p_unlogged) on conflict do nothing;
end
$$;

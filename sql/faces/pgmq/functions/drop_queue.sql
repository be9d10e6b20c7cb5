-- pgmq.drop_queue(queue_name), pgmq.drop_queue(queue_name, partitioned)
-- Drops a queue with its messages and its archive. The second is the old form of the first.
--
-- Parameters:
--   queue_name   the queue
--   partitioned  not used
-- Returns: true; the first false, with a NOTICE, when there is no such queue.
-- Raises: P0001
-- Locks: that of pgmq.acquire_queue_lock, as weir.drop_queue, and those of drop table, until the transaction ends.
create or replace function pgmq.drop_queue(queue_name text)
returns boolean
language plpgsql
as $$
declare
    v_view text := pgmq.format_table_name(queue_name, 'q');
    v_name text := 'pgmq.' || lower(queue_name);
begin
    perform pgmq.acquire_queue_lock(queue_name);
    if to_regclass(format('pgmq.%I', v_view)) is null then
        raise notice 'pgmq queue `%` does not exist', queue_name;
        return false;
    end if;
    execute format('drop view pgmq.%I', v_view);
    execute format('drop sequence %s', pgmq._sequence(queue_name));
    if to_regclass(pgmq._notified(queue_name)) is not null then
        execute format('drop sequence %s', pgmq._notified(queue_name));
    end if;
    execute format('drop table if exists pgmq.%I', pgmq.format_table_name(queue_name, 'a'));
    perform weir.drop_queue(v_name) where exists (select from weir_internal.queues q where q.name = v_name);
    delete from pgmq.meta m where m.queue_name = drop_queue.queue_name;
    return true;
end
$$;
create or replace function pgmq.drop_queue(queue_name text, partitioned boolean)
returns boolean
language plpgsql
as $$
begin
    raise warning '%', 'drop_queue(queue_name, partitioned) is deprecated and will be removed in PGMQ v2.0. '
        'Use drop_queue(queue_name) instead';
    perform pgmq.drop_queue(queue_name);
    return true;
end
$$;

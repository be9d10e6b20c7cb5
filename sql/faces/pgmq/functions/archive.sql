-- pgmq.archive(queue_name, msg_id), pgmq.archive(queue_name, msg_ids)
-- Moves messages, read or not, from a queue to its archive, the table a_.
--
-- Parameters:
--   queue_name  the queue
--   msg_id      a message
--   msg_ids     messages
-- Returns: whether it was there; the ids of those that were, in order.
-- Raises: 42P01, WR012, WR019
-- Locks: as pgmq._take_out.
create or replace function pgmq.archive(queue_name text, msg_id bigint)
returns boolean
language plpgsql
as $$
begin
    return exists (select from pgmq.archive(queue_name, array[msg_id]));
end
$$;
create or replace function pgmq.archive(queue_name text, msg_ids bigint[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(queue_name);
    v_messages pgmq.message_record[];
begin
    perform weir_internal.check_isolation('archive');
    v_messages := pgmq._take_out_many(q, pgmq._group(q), msg_ids, 'archive');
    if cardinality(v_messages) > 0 then
        return query execute format(
            'insert into pgmq.%I (msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers)
             select m.msg_id, m.read_ct, m.enqueued_at, m.last_read_at, m.vt, m.message, m.headers
             from unnest($1) m returning msg_id', pgmq.format_table_name(queue_name, 'a'))
        using v_messages;
    end if;
end
$$;

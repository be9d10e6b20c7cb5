-- weir_internal.redrive(queue_name, group_name, ids)
-- Sends dead letters back to their own group, their attempts counted from zero. At most 10,000 a call: call again until
-- it returns 0.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   ids         which; null = all
-- Returns: how many were sent back.
-- Raises: WR001, WR003, WR017
-- Locks: the dead letters' rows and ROW EXCLUSIVE on the open segment, until the transaction ends.
create or replace function weir_internal.redrive(queue_name text, group_name text, ids bigint[] default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.find_group(q, group_name);
    v_messages weir_internal.later_row[] :=
        weir_internal.take_dead_letters(q, g, ids, weir_internal.ttl_start(g)); -- older ones would not be delivered
begin
    perform weir_internal.retry(q, g, v_messages, interval '0');
    perform weir_internal.end_jobs(q, v_messages, 4, null, null); -- they are tried again
    return coalesce(cardinality(v_messages), 0);
end
$$;

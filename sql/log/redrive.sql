-- weir_log.redrive(p_queue, p_group, p_ids)
-- Sends dead letters back to their own group, their attempts counted from zero. At most 10,000 a call.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_ids    which; null = all
-- Returns: how many were sent back.
-- Raises: WR001, WR003, WR006, WR017, WR019
-- Locks: the dead letters' rows and ROW EXCLUSIVE on `delayed`; the group's settling lock, shared; until the
-- transaction ends.
create or replace function weir_log.redrive(p_queue text, p_group text, p_ids bigint[])
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
    v_messages weir_internal.delayed_row[];
begin
    perform pg_advisory_xact_lock_shared(weir_internal.settle_lock(g.no)); -- it is not dropped meanwhile
    g := weir_internal.find_group(q, p_group);
    v_messages := weir_internal.take_dead_letters(q, g, p_ids, weir_internal.ttl_start(g)); -- older: not delivered
    perform weir_log.retry(q, g, v_messages, interval '0');
    perform weir_log.end_jobs(q, v_messages, 4, null, null); -- they are tried again
    return coalesce(cardinality(v_messages), 0);
end
$$;

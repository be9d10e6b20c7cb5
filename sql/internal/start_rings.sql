-- weir_internal.start_rings(q)
-- Sets the sequences and segments of a queue whose rings are empty but for the first tables.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none; the caller keeps everybody else from the queue.
create or replace function weir_internal.start_rings(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_later boolean;
begin
    execute format('select exists (select from weir_internal.q%s_later)', q.no) into v_later;
    perform setval(format('weir_internal.q%s_log_ring', q.no), 0);
    perform setval(format('weir_internal.q%s_claims_ring', q.no), 0);
    perform setval(format('weir_internal.q%s_later_clock', q.no), v_later::int);
    perform setval(format('weir_internal.q%s_waiting', q.no), 0);
    if q.dedup_window is not null then
        perform weir_internal.start_dedup(q);
    end if;
    if q.backlog_max is not null then
        perform weir_internal.start_backlog(q);
    end if;
    delete from weir_internal.segments where queue_no = q.no;
    insert into weir_internal.segments (queue_no, no, opened_by)
    values (q.no, 0, pg_current_xact_id()), (q.no, 1, pg_current_xact_id());
end
$$;

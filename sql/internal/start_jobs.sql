-- weir_internal.start_jobs(p_queue)
-- Creates the ring of events of a queue's tracked jobs: when the first is enqueued. See weir_internal.turn_ring for its
-- states.
--
-- Parameters:
--   p_queue  queue number
-- Returns: nothing.
-- Raises: none
-- Locks: the advisory lock (lock_class(queue), -2) and the new tables, until the transaction ends.
create or replace function weir_internal.start_jobs(p_queue int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(p_queue), -2);
    if to_regclass(format('weir_internal.q%s_jobs_ring', p_queue)) is not null then
        return;
    end if;
    for k in 0 .. 1 loop
        execute format(
            'create table weir_internal.q%1$s_jobs_%2$s of weir_internal.job_event (
                 id with options not null, what with options not null, at with options not null)
             with (autovacuum_enabled = false, toast.autovacuum_enabled = false);
             create index q%1$s_jobs_%2$s_order on weir_internal.q%1$s_jobs_%2$s (id, what, at)', p_queue, k);
    end loop;
    execute format('create sequence weir_internal.q%s_jobs_ring minvalue 0', p_queue);
    perform setval(format('weir_internal.q%s_jobs_ring', p_queue),
        weir_internal.to_micros(weir_internal.clock()) * 6 + 1);
end
$$;

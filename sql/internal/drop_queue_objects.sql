-- weir_internal.drop_queue_objects(q)
-- Drops a queue's functions, tables and sequences.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on all of them, as far as can be in the order in which those who use the queue take theirs.
create or replace function weir_internal.drop_queue_objects(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
    v_function regprocedure;
    v_sequence regclass;
begin
    execute format(
        'drop sequence weir_internal.q%1$s_ids, weir_internal.q%1$s_claim_ids, weir_internal.q%1$s_later_clock,
             weir_internal.q%1$s_claims_ring;
         drop view weir_internal.q%1$s_claims_2;
         drop table weir_internal.q%1$s_claims_0, weir_internal.q%1$s_claims_1;
         drop sequence weir_internal.q%1$s_log_ring;
         drop table weir_internal.q%1$s_log_0, weir_internal.q%1$s_log_1, weir_internal.q%1$s_log_2;
         drop sequence weir_internal.q%1$s_waiting, weir_internal.q%1$s_cancels;
         drop table weir_internal.q%1$s_later, weir_internal.q%1$s_parked;
         drop table if exists weir_internal.q%1$s_dedup_0, weir_internal.q%1$s_dedup_1, weir_internal.q%1$s_jobs_0,
             weir_internal.q%1$s_jobs_1;
         drop view if exists weir_internal.q%1$s_in_line;
         drop table if exists weir_internal.q%1$s_lines, weir_internal.q%1$s_turns;
         drop sequence if exists weir_internal.q%1$s_dedup_ring, weir_internal.q%1$s_jobs_ring,
             weir_internal.q%1$s_backlog_end, weir_internal.q%1$s_backlog_depth,
             weir_internal.q%1$s_backlog_full, weir_internal.q%1$s_held', q.no);
    for v_sequence in
        select oid from pg_class
        where relnamespace = 'weir_internal'::regnamespace and relkind = 'S' and relname ~ ('^q' || q.no || '_rate_')
    loop
        execute format('drop sequence %s', v_sequence);
    end loop;
    for v_function in
        select oid from pg_proc
        where pronamespace = 'weir_internal'::regnamespace
            and (proname ~ ('^q' || q.no || '_') or proname ~ '^[a-z_]+:' and split_part(proname, ':', 2) = q.name)
    loop
        execute format('drop function %s', v_function);
    end loop;
end
$$;

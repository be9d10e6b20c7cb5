-- weir_internal.drop_queue(queue_name)
-- Drops a queue with all its messages, groups, dead letters, bindings and the rights on it.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: WR001
-- Locks: ACCESS EXCLUSIVE on the queue's tables: it waits for every transaction that used the queue.
create or replace function weir_internal.drop_queue(queue_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_function regprocedure;
    v_roles name[];
    v_role name;
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    q := weir_internal.find_queue(queue_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    v_roles := array(select distinct h.role_name from weir_internal.held_rights() h where h.queue_name = q.name);
    for v_function in
        select oid from pg_proc
        where pronamespace = 'weir_internal'::regnamespace
            and (proname ~ ('^q' || q.no || '_') or proname ~ '^[a-z_]+:' and split_part(proname, ':', 2) = q.name)
    loop
        execute format('drop function %s', v_function);
    end loop;
    execute format(
        'drop view weir_internal.q%1$s_claims_2;
         drop table weir_internal.q%1$s_log_0, weir_internal.q%1$s_log_1, weir_internal.q%1$s_log_2,
             weir_internal.q%1$s_claims_0, weir_internal.q%1$s_claims_1, weir_internal.q%1$s_later,
             weir_internal.q%1$s_parked;
         drop table if exists weir_internal.q%1$s_dedup_0, weir_internal.q%1$s_dedup_1;
         drop sequence if exists weir_internal.q%1$s_dedup_ring, weir_internal.q%1$s_backlog_end,
             weir_internal.q%1$s_backlog_depth, weir_internal.q%1$s_backlog_full;
         drop sequence weir_internal.q%1$s_ids, weir_internal.q%1$s_claim_ids, weir_internal.q%1$s_log_ring,
             weir_internal.q%1$s_claims_ring, weir_internal.q%1$s_later_clock, weir_internal.q%1$s_waiting', q.no);
    delete from weir_internal.queues where no = q.no;
    foreach v_role in array v_roles loop
        perform weir_internal.trim_rights(v_role);
    end loop;
end
$$;

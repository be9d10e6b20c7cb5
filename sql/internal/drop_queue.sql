-- weir_internal.drop_queue(queue_name)
-- Drops a queue with all its messages, groups, dead letters, bindings and the rights on it. Who uses the queue may take
-- its locks in another order: what does not get all of them in half a second lets go and tries again.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: WR001
-- Locks: ACCESS EXCLUSIVE on the queue's tables: it waits for every transaction that used the queue, as long as the
-- session's lock_timeout allows.
create or replace function weir_internal.drop_queue(queue_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_timeout text := current_setting('lock_timeout');
    v_start timestamptz := clock_timestamp();
    v_roles name[];
    v_role name;
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    q := weir_internal.find_queue(queue_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    v_roles := array(select distinct h.role_name from weir_internal.held_rights() h where h.queue_name = q.name);
    loop
        begin
            perform set_config('lock_timeout', '500ms', true);
            perform weir_internal.drop_queue_objects(q);
            perform set_config('lock_timeout', v_timeout, true);
            exit;
        exception
            when lock_not_available or deadlock_detected then
                if v_timeout::interval > interval '0' and clock_timestamp() >= v_start + v_timeout::interval then
                    raise;
                end if;
        end;
        perform pg_sleep(0.05 + random() / 10);
    end loop;
    delete from weir_internal.queues where no = q.no;
    foreach v_role in array v_roles loop
        perform weir_internal.trim_rights(v_role);
    end loop;
end
$$;

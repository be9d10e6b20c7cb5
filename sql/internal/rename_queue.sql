-- weir_internal.rename_queue(queue_name, new_name)
-- Gives a queue another name. Only its functions are called by it. Renamed, they keep their oids and who may execute
-- them, so that a call under way goes on; made anew, they say the new name in errors and notifications.
--
-- Parameters:
--   queue_name  the queue
--   new_name    1 to 47 of a-z, 0-9, _, - and .
-- Returns: nothing.
-- Raises: WR001, WR002, WR005
-- Locks: the lock for the creation of queues and the queue's administration lock, until the transaction ends.
create or replace function weir_internal.rename_queue(queue_name text, new_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_function record;
begin
    perform weir_internal.check_name('queue', new_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(0), -1);
    q := weir_internal.find_queue(queue_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    if exists (select from weir_internal.queues where name = new_name) then
        raise exception 'queue "%" exists', new_name
            using errcode = 'WR002', hint = 'Choose another name, or drop the queue that is there.';
    end if;
    update weir_internal.queues set name = new_name where no = q.no returning * into q;
    execute format('select weir_internal.q%s_wake()', q.no); -- on the channel that has the old name
    for v_function in
        select oid::regprocedure as signature, split_part(proname, ':', 1) as verb from pg_proc
        where pronamespace = 'weir_internal'::regnamespace
            and proname ~ '^[a-z_]+:' and split_part(proname, ':', 2) = queue_name
    loop
        execute format('alter function %s rename to %I', v_function.signature, v_function.verb || ':' || new_name);
    end loop;
    perform weir_internal.generate_queue_functions(q);
end
$$;

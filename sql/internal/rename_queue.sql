-- weir_internal.rename_queue(p_queue, p_new_name)
-- Gives a queue another name. Everything but its gates knows it by its number; they keep who may execute them.
--
-- Parameters:
--   p_queue     name of the queue
--   p_new_name  1 to 47 of a-z, 0-9, _, - and .
-- Returns: nothing.
-- Raises: WR001, WR002, WR005, WR019
-- Locks: with gates, the lock of rights; the queue's administration; until the transaction ends.
create or replace function weir_internal.rename_queue(p_queue text, p_new_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_schema text;
begin
    perform weir_internal.check_name('queue', p_new_name);
    perform pg_advisory_xact_lock(weir_internal.rights_lock()) where weir_internal.has_gates(p_queue);
    q := weir_internal.lock_queue(p_queue);
    begin
        if p_new_name <> p_queue then
            update weir_internal.queues set name = p_new_name where no = q.no returning * into q;
            perform weir_internal.rename_gates(p_queue, p_new_name);
            v_schema := (select l.schema_name from weir_internal.logs l where l.no = q.log_no);
            execute format('select %I.wake($1)', v_schema) using q; -- who waits under the old name is to be told
            return;
        end if;
    exception
        when unique_violation then
            null;
    end;
    raise exception 'queue "%" exists', p_new_name
        using errcode = 'WR002', hint = 'Choose another name, or drop the queue that is there.';
end
$$;

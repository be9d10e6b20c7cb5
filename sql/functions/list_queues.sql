-- weir.list_queues()
-- The queues of this database; for those who are not the owner's, the ones that they consume from or administer.
--
-- Returns: one row a queue, by name; lanes are those of its keys; paused tells whether the whole queue is; moving_from
-- is the log from which it is moving to `log`: see weir.move_queue.
-- Raises: none
-- Locks: none
create or replace function weir.list_queues()
returns table (
    queue_name text, lanes int, message_bytes_max int, created_at timestamptz, paused boolean, priorities int,
    aging interval, ttl interval, dedup_window interval, backlog_max bigint, job_retention interval, log text,
    moving_from text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
    v_name text;
    v_gate regproc;
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.describe(null);
        return;
    end if;
    for v_queue in select * from weir_internal.visible_queues() loop
        v_name := 'weir_gates.' || quote_ident('describe:' || v_queue);
        v_gate := to_regproc(v_name);
        begin
            return query execute 'select * from ' || v_name || '()';
        exception
            when undefined_function or internal_error then
                if not weir_internal.was_dropped(v_name, v_gate) then
                    raise;
                end if;
        end;
    end loop;
end
$$;

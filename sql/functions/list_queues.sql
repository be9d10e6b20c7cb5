-- weir.list_queues()
-- The queues of this database that the caller consumes from or administers.
--
-- Returns: one row a queue, by name; lanes are those of one priority; paused tells whether the whole queue is.
-- Raises: none (a WR001 within means that a queue was dropped meanwhile)
-- Locks: none
create or replace function weir.list_queues()
returns table (
    queue_name text, lanes int, message_bytes_max int, segment_bytes bigint, claims_bytes bigint,
    created_at timestamptz, paused boolean, priorities int, aging interval, ttl interval, retention interval,
    dedup_window interval, backlog_max bigint, job_retention interval)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_queue text;
    v_name text;
    v_function regproc;
begin
    for v_queue in select * from weir_internal.visible_queues() loop
        begin
            v_name := weir_internal.queue_function('describe', v_queue);
            v_function := to_regproc(v_name);
            return query execute
                'select name, lanes / priorities, message_bytes_max, segment_bytes, claims_bytes, created_at, paused,
                     priorities, aging, ttl, retention, dedup_window, backlog_max, job_retention
                 from ' || v_name || '()';
        exception
            when sqlstate 'WR001' or undefined_function or internal_error then
                if sqlstate = 'XX000' and to_regproc(v_name) = v_function then
                    raise;
                end if; -- else it was dropped meanwhile
        end;
    end loop;
end
$$;

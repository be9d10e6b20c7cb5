-- weir_internal.moving_logs(q, p_which), weir_internal.fail_moving(q, p_what)
-- moving_logs: the two logs of a queue that is moving. fail_moving: says that something has to wait until it has moved.
--
-- Parameters:
--   q        the queue
--   p_which  1: the log that it is leaving; 2: the one that it is in
--   p_what   what cannot be done
-- Returns: moving_logs: the log's schema; null where the queue is not moving (any more); fail_moving: never.
-- Raises: fail_moving: WR023
-- Locks: none
create or replace function weir_internal.moving_logs(q weir_internal.queues, p_which int)
returns text
language plpgsql stable
as $$
begin
    return (select l.schema_name from weir_internal.logs l
            where l.no = case p_which when 1 then q.moving_from else q.log_no end);
end
$$;
create or replace function weir_internal.fail_moving(q weir_internal.queues, p_what text)
returns void
language plpgsql
as $$
begin
    raise exception 'queue "%" is moving from log "%" to log "%": %', q.name,
        (select l.name from weir_internal.logs l where l.no = q.moving_from),
        (select l.name from weir_internal.logs l where l.no = q.log_no), p_what
        using errcode = 'WR023', hint = 'Wait until its groups have finished what the first has of it and '
            'weir.list_queues() shows no moving_from any more; call weir.maintain() meanwhile.';
end
$$;

-- weir_log.is_here(q)
-- Whether a queue is in this log, be it that it is leaving it. What a log holds of a queue that is not, since it has
-- moved to another, is no one's: rotation and maintain take it away.
--
-- Parameters:
--   q  the queue
-- Returns: see above.
-- Raises: none
-- Locks: none
create or replace function weir_log.is_here(q weir_internal.queues)
returns boolean
language plpgsql stable
as $$
begin
    return exists (
        select from weir_internal.logs l where l.schema_name = 'weir_log' and l.no in (q.log_no, q.moving_from));
end
$$;

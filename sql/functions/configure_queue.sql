-- weir.configure_queue(queue_name, message_bytes_max, lanes, aging, ttl, dedup_window, backlog_max, job_retention)
-- Changes settings of a queue that is in use. Senders and consumers go on meanwhile. Null leaves a setting as it is.
--
-- Parameters:
--   queue_name         the queue
--   message_bytes_max  limit of a message's octets, 1 KiB to 64 MiB: see create_queue
--   lanes              1 to 256: in so many parts its keys are shared out from now on; order is kept
--   aging              how much longer a message must have waited to go before one of the next higher priority
--   ttl                what was sent longer ago is not delivered any more; 0 = delivered however old
--   dedup_window       how long a dedup key counts; a longer one counts for the keys that are sent from now on; 0 = the
--                      queue takes none
--   backlog_max        how many messages the slowest group may be behind by; 0 = no limit
--   job_retention      how long what happened to tracked jobs is kept after they ended, 1 second to 10 years
-- Returns: nothing.
-- Raises: WR001, WR006, WR019, WR061
-- Locks: the queue's administration, with a new ttl also the upkeep of its log, shared: until the transaction ends.
create or replace function weir.configure_queue(
    queue_name text,
    message_bytes_max int default null,
    lanes int default null,
    aging interval default null,
    ttl interval default null,
    dedup_window interval default null,
    backlog_max bigint default null,
    job_retention interval default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'configure_queue', jsonb_build_object(
        'message_bytes_max', message_bytes_max, 'lanes', lanes, 'aging', aging, 'ttl', ttl,
        'dedup_window', dedup_window, 'backlog_max', backlog_max, 'job_retention', job_retention));
end
$$;

-- weir.configure_queue(queue_name, message_bytes_max, segment_bytes, claims_bytes, lanes, aging, ttl, retention,
-- dedup_window, backlog_max, job_retention)
-- Changes settings of a queue that is in use. Senders and consumers go on meanwhile. Null leaves a setting as it is.
--
-- Parameters:
--   queue_name         the queue
--   message_bytes_max  limit of a message's payload plus headers, octets as stored, 1 KiB to 64 MiB
--   segment_bytes      size at which a segment of the log is closed, 64 KiB or more
--   claims_bytes       size at which a table of the claim log is left, 64 KiB or more
--   lanes              cannot be changed, because a key's messages would lie in two lanes, in no order between them:
--                      refused unless it is what the queue has
--   aging              how much longer a message must have waited to go before one of the next higher priority
--   ttl                what was sent longer ago is not delivered any more; 0 = delivered however old
--   retention          how long what all groups have finished is kept at least, so that a group can seek back to it
--   dedup_window       how long a dedup key counts; a longer one counts for the keys that are sent from now on
--   backlog_max        how many messages the slowest group may be behind by; 0 = no limit
--   job_retention      how long what happened to tracked jobs is kept after they ended, 1 second to 10 years
-- Returns: nothing.
-- Raises: WR001, WR006, WR015
-- Locks: the queue's administration lock and the one that create_queue takes, until the transaction ends.
create or replace function weir.configure_queue(
    queue_name text,
    message_bytes_max int default null,
    segment_bytes bigint default null,
    claims_bytes bigint default null,
    lanes int default null,
    aging interval default null,
    ttl interval default null,
    retention interval default null,
    dedup_window interval default null,
    backlog_max bigint default null,
    job_retention interval default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'configure_queue', jsonb_build_object(
        'message_bytes_max', message_bytes_max, 'segment_bytes', segment_bytes, 'claims_bytes', claims_bytes,
        'lanes', lanes, 'aging', aging, 'ttl', ttl, 'retention', retention,
        'dedup_window', dedup_window, 'backlog_max', backlog_max,
        'job_retention', job_retention));
end
$$;

-- weir.configure_queue(queue_name, message_bytes_max, segment_bytes, claims_bytes, lanes)
-- Changes settings of a queue that is in use. Senders and consumers go on meanwhile.
--
-- Parameters:
--   queue_name         the queue
--   message_bytes_max  limit of a message's payload plus headers, octets as stored, 1 KiB to 64 MiB; null = as it is
--   segment_bytes      size at which a segment of the log is closed, 64 KiB or more; null = as it is
--   claims_bytes       size at which a table of the claim log is left, 64 KiB or more; null = as it is
--   lanes              cannot be changed, because a key's messages would lie in two lanes, in no order between them:
--                      refused unless it is what the queue has
-- Returns: nothing.
-- Raises: WR001, WR006, WR015
-- Locks: the queue's administration lock and the one that create_queue takes, until the transaction ends.
create or replace function weir.configure_queue(
    queue_name text,
    message_bytes_max int default null,
    segment_bytes bigint default null,
    claims_bytes bigint default null,
    lanes int default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'configure_queue', jsonb_build_object(
        'message_bytes_max', message_bytes_max, 'segment_bytes', segment_bytes, 'claims_bytes', claims_bytes,
        'lanes', lanes));
end
$$;

-- weir_internal.check_queue_settings(q)
-- Refuses settings that a queue cannot have.
--
-- Parameters:
--   q  the queue as it would be
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_queue_settings(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if q.lanes is null or q.lanes not between 1 and 256
        or q.message_bytes_max is null or q.message_bytes_max not between 1024 and 67108864
        or q.segment_bytes is null or q.segment_bytes < 65536 or q.claims_bytes is null or q.claims_bytes < 65536 then
        raise exception 'queue "%": lanes %, message_bytes_max %, segment_bytes % or claims_bytes % is out of range',
            q.name, q.lanes, q.message_bytes_max, q.segment_bytes, q.claims_bytes
            using errcode = 'WR006',
            hint = 'lanes: 1 to 256; message_bytes_max: 1024 to 67108864; the others: 65536 or more.';
    end if;
end
$$;

-- weir_log.messages_of(q, p_parts, p_ids, p_uncounted, p_reason)
-- Messages of a claim as they are to be kept elsewhere.
--
-- Parameters:
--   q            the queue
--   p_parts      the claim's rows
--   p_ids        the messages
--   p_uncounted  added to the deliveries: -1 = this one does not count
--   p_reason     why they are kept
-- Returns: the messages in the order of delivery; attempts counts the deliveries so far.
-- Raises: WR016
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_log.messages_of(
    q weir_internal.queues, p_parts weir_internal.claim[], p_ids int8multirange, p_uncounted int, p_reason text)
returns weir_internal.delayed_row[]
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_out weir_internal.delayed_row[] := '{}';
begin
    foreach c in array p_parts loop
        continue when isempty(c.ids * p_ids);
        v_out := v_out || array(
            select row(null, q.no, c.group_no, null, m.id, m.attempts + c.attempt + p_uncounted, m.key, m.headers,
                       m.payload, m.body, m.enqueued_at, p_reason)::weir_internal.delayed_row
            from weir_log.claim_messages(c, q.no, c.ids * p_ids) m);
    end loop;
    return v_out;
end
$$;

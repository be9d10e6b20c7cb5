-- weir_log.claim_record(q, g, c, p_claim, p_messages, p_lease)
-- Puts messages that only one claim will refer to into the log, in lane -1, and claims them. The caller holds the lock
-- of that lane.
--
-- Parameters:
--   q, g        queue and group
--   c           the cursor of lane -1, as it shall be stored
--   p_claim     the claim to add to; null = a new one
--   p_messages  the messages, one at least; attempts counts the deliveries so far
--   p_lease     how long they are the caller's
-- Returns: the record as delivered.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment and the claim log.
create or replace function weir_log.claim_record(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_claim bigint,
    p_messages weir_internal.delayed_row[], p_lease interval)
returns weir.message_record
language plpgsql
as $$
declare
    r weir_internal.log_record;
    o weir.message_record := weir_internal.record_of(p_messages);
    v_seg bigint;
begin
    r.id := nextval('weir_internal.record_numbers') * 1000 + 999; -- behind all that this transaction put there before
    r.n := o.n;
    r.queue_no := q.no;
    r.lane := -1;
    r.group_no := g.no;
    r.ids := o.ids;
    r.attempts := array(select a - 1 from unnest(o.attempts) a);
    r.enqueued_at := o.enqueued_at;
    r.enqueued_times := o.enqueued_times;
    r.keys := o.keys;
    r.headers := o.headers;
    r.payloads := o.payloads;
    r.bodies := o.bodies;
    v_seg := weir_log.append_record(r);
    c.src := row(v_seg, -1, pg_current_xact_id(), r.id - 1, pg_current_xact_id(), r.id)::weir_internal.source;
    c.id := nextval('weir_internal.claim_numbers');
    c.claim := coalesce(p_claim, c.id);
    c.ids := weir_internal.ids_of(o);
    c.n := o.n;
    perform weir_log.lease(g, c, 1, weir_internal.clock() + p_lease, null);
    o.claim_id := c.claim;
    return o;
end
$$;

-- weir_internal.slice(r, p_claim, p_skip, p_n)
-- Part of a record, or all of it, as it is delivered at the first lease.
--
-- Parameters:
--   r        the record
--   p_claim  the claim it is delivered under
--   p_skip   messages to leave out at the beginning
--   p_n      messages to take
-- Returns: the record as delivered.
-- Raises: none
-- Locks: none
create or replace function weir_internal.slice(r weir_internal.log_record, p_claim bigint, p_skip int, p_n int)
returns weir.message_record
language plpgsql
as $$
declare
    o weir.message_record;
begin
    o.claim_id := p_claim;
    o.n := p_n;
    o.enqueued_at := r.enqueued_at;
    o.attempt := 1;
    if p_n = r.n then
        o.ids := r.ids;
        o.keys := r.keys;
        o.headers := r.headers;
        o.payloads := r.payloads;
        o.bodies := r.bodies;
        o.enqueued_times := r.enqueued_times;
    else
        o.ids := r.ids[p_skip + 1:p_skip + p_n];
        o.keys := r.keys[p_skip + 1:p_skip + p_n];
        o.headers := r.headers[p_skip + 1:p_skip + p_n];
        o.payloads := r.payloads[p_skip + 1:p_skip + p_n];
        o.bodies := r.bodies[p_skip + 1:p_skip + p_n];
        o.enqueued_times := r.enqueued_times[p_skip + 1:p_skip + p_n];
    end if;
    o.first_id := coalesce(o.ids[1], r.id - r.n + p_skip + 1);
    if r.attempts is not null then
        o.attempts := array(select a + 1 from unnest(r.attempts[p_skip + 1:p_skip + p_n]) a);
    end if;
    return o;
end
$$;

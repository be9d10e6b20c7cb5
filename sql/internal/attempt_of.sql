-- weir_internal.attempt_of(q, p_claim, p_id)
-- Which delivery of a message a claim is.
--
-- Parameters:
--   q        the queue
--   p_claim  the claim
--   p_id     the message
-- Returns: 1 for the first; null when the claim is gone.
-- Raises: none (WR009 and WR010 within mean that the claim is gone)
-- Locks: ACCESS SHARE on the claim log and one segment.
create or replace function weir_internal.attempt_of(q weir_internal.queues, p_claim bigint, p_id bigint)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s record;
begin
    select * into s from weir_internal.claim_state(q.no, p_claim);
    return (select m.attempts + (s.c).attempt
            from weir_internal.claim_messages(q, s.c, int8multirange(int8range(p_id, p_id + 1))) m);
exception
    when sqlstate 'WR009' or sqlstate 'WR010' then
        return null;
end
$$;

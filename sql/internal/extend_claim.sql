-- weir_internal.extend_claim(p_queue, p_claim, p_lease)
-- Moves a claim's deadline to p_lease from now; never to an earlier time than it has.
--
-- Parameters:
--   p_queue  queue number
--   p_claim  the claim
--   p_lease  1 ms to 7 days
-- Returns: the deadline.
-- Raises: WR006, WR009, WR010, WR012
-- Locks: the claim's advisory lock, until the transaction ends.
create or replace function weir_internal.extend_claim(p_queue int, p_claim bigint, p_lease interval)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    d weir_internal.claim;
    s record;
begin
    perform weir_internal.check_isolation('extend');
    if p_claim is null or p_lease is null
        or p_lease not between interval '1 millisecond' and interval '7 days' then
        raise exception 'extend of claim % by % is out of range',
            coalesce(p_claim::text, 'null'), coalesce(p_lease::text, 'null')
            using errcode = 'WR006',
            hint = 'Give the claim_id that receive returned and a lease of 1 millisecond to 7 days.';
    end if;
    perform pg_advisory_xact_lock(weir_internal.claim_lock(p_queue, p_claim));
    select * into s from weir_internal.claim_state(p_queue, p_claim);
    c := s.c;
    if s.taken or c.ids <@ s.done or c.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at % or is finished', p_claim, c.deadline
            using errcode = 'WR010', hint = 'Only a live claim can be extended. Extend it before its deadline.';
    end if;
    d.slot := c.slot;
    d.what := 3;
    d.id := p_claim;
    d.deadline := greatest(c.deadline, weir_internal.clock() + p_lease);
    execute format('select weir_internal.q%s_put($1)', p_queue) using d;
    return d.deadline;
end
$$;

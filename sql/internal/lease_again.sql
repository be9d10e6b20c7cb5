-- weir_internal.lease_again(p_queue, c, p_ids, p_attempt, p_deadline)
-- Appends a claim on messages that an older claim held. It carries the lane's cursor on unchanged.
--
-- Parameters:
--   p_queue     queue number
--   c           the slot's newest claim, src telling where the messages are
--   p_ids       the messages
--   p_attempt   deliveries through claims, this one included
--   p_deadline  end of the lease; '-infinity' = to be delivered by whoever comes next
-- Returns: the new claim.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.lease_again(
    p_queue int, c weir_internal.claim, p_ids int8multirange, p_attempt int, p_deadline timestamptz)
returns weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    c.id := nextval(format('weir_internal.q%s_claim_ids', p_queue)) * 16384 + c.slot;
    c.ids := p_ids;
    c.n := weir_internal.count_ids(p_ids);
    c.total := coalesce(c.total, 0) + case when p_deadline > '-infinity' then c.n else 0 end;
    c.attempt := p_attempt;
    c.claimed_at := weir_internal.clock();
    c.deadline := p_deadline;
    c.pid := pg_backend_pid();
    c.next_expiry := least(c.next_expiry, p_deadline);
    execute format('select weir_internal.q%s_low($1, $2, $3)', p_queue) into c.low using c.slot, c.low, c.id;
    execute format('select weir_internal.q%s_put($1)', p_queue) using c;
    return c;
end
$$;

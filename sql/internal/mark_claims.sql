-- weir_internal.mark_claims(q, p_ring, p_bytes)
-- Notes in the claim log that the step its ring's state waits for was done, and by which transaction.
--
-- Parameters:
--   q       the queue
--   p_ring   the state
--   p_bytes  what was carried over, octets
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.mark_claims(q weir_internal.queues, p_ring bigint, p_bytes bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    d weir_internal.claim;
begin
    d.slot := -1;
    d.what := 9;
    d.id := p_ring;
    d.txid := pg_current_xact_id();
    d.pos := p_bytes;
    execute format('select weir_internal.q%s_put($1)', q.no) using d;
end
$$;

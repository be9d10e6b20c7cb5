-- weir_log.lease(g, c, p_attempt, p_deadline, p_out), weir_log.move_cursor(c)
-- Stores a cursor: with what it claims, or moved over nothing. The caller holds its lock.
--
-- Parameters:
--   g          the group
--   c          the cursor; to be claimed: id, claim, ids, n and where they lie
--   p_attempt  deliveries of them through claims, this one included
--   p_deadline until when they are the caller's; '-infinity' = for whoever comes next
--   p_out      the messages
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.lease(
    g weir_internal.groups, c weir_internal.claim, p_attempt int, p_deadline timestamptz, p_out weir.message_record[])
returns void
language plpgsql
as $$
begin
    c.kind := 'c';
    c.attempt := p_attempt;
    c.claimed_at := weir_internal.clock();
    c.deadline := p_deadline;
    c.pid := pg_backend_pid();
    c.limited := nullif(g.limited, false);
    c.next_expiry := least(c.next_expiry, c.deadline);
    c.total := coalesce(c.total, 0) + case when p_deadline > '-infinity' then c.n else 0 end;
    if random() < 0.0625 then -- not by the number: receives in turn may give one group odd ones only
        c.low := weir_log.advance_low(c, c.id);
    end if;
    if g.ordered and c.lane >= 0 then -- what is aside stands in key queues, with its holder
        c.inflight := c.inflight || c.claim;
        c.keys := weir_internal.hashes_of(p_out, c.lane);
    end if;
    perform weir_log.append_claim(c);
end
$$;
create or replace function weir_log.move_cursor(c weir_internal.claim)
returns void
language plpgsql
as $$
begin
    c.kind := 'c';
    c.id := nextval('weir_internal.claim_numbers');
    c.claim := null;
    c.ids := null;
    c.n := null;
    c.src := null;
    c.deadline := null;
    c.keys := null;
    perform weir_log.append_claim(c);
end
$$;

-- weir_log.extend(p_queue, p_claim, p_lease)
-- Moves a claim's deadline to p_lease from now; never to an earlier time than it has.
--
-- Parameters:
--   p_queue  name of the queue
--   p_claim  the claim
--   p_lease  1 ms to 7 days
-- Returns: the deadline.
-- Raises: WR001, WR006, WR009, WR010, WR012, WR019
-- Locks: the claim's advisory lock, until the transaction ends.
create or replace function weir_log.extend(p_queue text, p_claim bigint, p_lease interval)
returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
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
    perform pg_advisory_xact_lock(weir_internal.claim_lock(p_claim));
    s := weir_log.held_claim(q, p_claim, null);
    if s.ids <@ s.done + s.taken or s.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at % or is finished', p_claim, s.deadline
            using errcode = 'WR010', hint = 'Only a live claim can be extended. Extend it before its deadline.';
    end if;
    d.kind := 'e';
    d.claim := p_claim;
    d.deadline := greatest(s.deadline, weir_internal.clock() + p_lease);
    perform weir_log.append_claim(d);
    return d.deadline;
end
$$;

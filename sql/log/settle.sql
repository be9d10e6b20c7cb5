-- weir_log.settle(p_queue, p_claim, p_ids, p_verb, p_delay, p_reason)
-- Ends a claim's hold on messages: ack finishes them, nack has them delivered again unless they are past their
-- attempts, release does so without counting this delivery, reject makes them dead letters. All of it happens in the
-- caller's transaction, under the claim's lock, and only before the claim's deadline.
--
-- An ack of a few messages shares the claim's lock, with a lock a message, so that transactions that finish different
-- messages of one claim do not wait for each other.
--
-- Parameters:
--   p_queue   name of the queue
--   p_claim   the claim
--   p_ids     messages of it; null = all that are left
--   p_verb    'ack', 'nack', 'release' or 'reject'
--   p_delay   nack, release: null = the group's backoff
--   p_reason  kept with a dead letter
-- Returns: how many messages were settled; 0 when all of them were already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012, WR016, WR019
-- Locks: the group's settling lock, shared; the claim's advisory lock (shared, with one a message, for an ack of up to
-- 32 messages), until the transaction ends.
create or replace function weir_log.settle(
    p_queue text, p_claim bigint, p_ids bigint[], p_verb text, p_delay interval, p_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups;
    s record;
    v_ids int8multirange;
    v_left int8multirange;
begin
    perform weir_internal.check_settle(p_verb, p_claim, p_ids);
    perform weir_log.lock_claim(p_claim, case when p_verb = 'ack' then p_ids end);
    s := weir_log.held_claim(q, p_claim, p_ids);
    v_left := s.ids - s.done - s.taken;
    v_ids := coalesce(s.asked, s.ids) - s.done;
    if isempty(v_ids) then
        return 0;
    end if;
    if not isempty(v_ids * s.taken) or s.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at %', p_claim, s.deadline
            using errcode = 'WR010',
            hint = 'Its messages are delivered again. Take a longer lease, or extend it while working.';
    end if;
    select * into g from weir_internal.groups where no = (s.parts[1]).group_no;
    return weir_log.settle_messages(q, g, s.parts, v_ids, v_left, s.parked, p_verb, p_delay, p_reason);
end
$$;

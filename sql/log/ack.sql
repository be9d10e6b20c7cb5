-- weir_log.ack(p_queue, p_claim, p_id), weir_log.ack_all(p_queue, p_claim)
-- Finishes one message of a claim, or all of it: nearly always by one statement, which sees that nothing stands in the
-- way; else as weir_log.settle. The claim's lock keeps it from being given away while this transaction is open.
--
-- Parameters:
--   p_queue  name of the queue
--   p_claim  the claim
--   p_id     a message of it
-- Returns: how many messages it finished; 0 when they were finished already.
-- Raises: WR001, WR006, WR009, WR010, WR011, WR012, WR016, WR019
-- Locks: as weir_log.lock_claim; ROW EXCLUSIVE on the claim log.
create or replace function weir_log.ack(p_queue text, p_claim bigint, p_id bigint)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
begin
    return coalesce(
        case when p_claim is not null and p_id is not null
            and current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
            and pg_advisory_xact_lock_shared(weir_internal.claim_lock(p_claim)) is not null
            and pg_advisory_xact_lock(weir_internal.message_lock(p_claim, p_id)) is not null then
            case weir_internal.read_claims_table(v_ring)
                when 0 then weir_log.ack_0(v_ring, p_queue, p_claim, p_id)
                when 1 then weir_log.ack_1(v_ring, p_queue, p_claim, p_id)
            end
        end,
        weir_log.settle(p_queue, p_claim, array[p_id], 'ack', null, null));
end
$$;
create or replace function weir_log.ack_all(p_queue text, p_claim bigint)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
begin
    return coalesce(
        case when p_claim is not null
            and current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
            and pg_advisory_xact_lock(weir_internal.claim_lock(p_claim)) is not null then
            case weir_internal.read_claims_table(v_ring)
                when 0 then weir_log.ack_all_0(v_ring, p_queue, p_claim, null)
                when 1 then weir_log.ack_all_1(v_ring, p_queue, p_claim, null)
            end
        end,
        weir_log.settle(p_queue, p_claim, null, 'ack', null, null));
end
$$;

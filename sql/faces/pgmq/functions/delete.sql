-- pgmq.delete(queue_name, msg_id), pgmq.delete(queue_name, msg_ids)
-- Deletes messages for good, read or not. Nearly always by one row for the claim that holds them, as an ack; else see
-- pgmq._take_out.
--
-- Parameters:
--   queue_name  the queue
--   msg_id      a message
--   msg_ids     messages
-- Returns: whether it was there; the ids of those that were, in order.
-- Raises: 42P01, WR012, WR019
-- Locks: those of an ack, until the transaction ends; see pgmq._take_out.
create or replace function pgmq.delete(queue_name text, msg_id bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    v_name text := 'pgmq.' || lower(queue_name);
    v_ring bigint := pg_sequence_last_value('weir_log_pgmq.claims_ring');
    v_queue int;
    v_special regclass;
    v_claim bigint;
    v_done int;
    q weir_internal.queues;
begin
    select w.no, w.special into v_queue, v_special from weir_internal.queues w where w.name = v_name;
    v_claim := case v_ring % 4
        when 0 then pgmq._claim_of_0(v_queue, msg_id)
        when 2 then pgmq._claim_of_1(v_queue, msg_id)
    end;
    if v_claim is not null and current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
        and pg_advisory_xact_lock_shared(weir_internal.claim_lock(v_claim)) is not null
        and pg_advisory_xact_lock(weir_internal.message_lock(v_claim, msg_id)) is not null
        and pg_sequence_last_value(v_special) = 0 then
        v_done := case v_ring % 4
            when 0 then weir_log_pgmq.ack_0(v_ring, v_name, v_claim, msg_id)
            when 2 then weir_log_pgmq.ack_1(v_ring, v_name, v_claim, msg_id)
        end;
        if v_done is not null then
            return true;
        end if;
    end if;
    q := pgmq._find(queue_name);
    perform weir_internal.check_isolation('delete');
    return (pgmq._take_out(q, pgmq._group(q), msg_id, 'delete')).msg_id is not null;
end
$$;
create or replace function pgmq.delete(queue_name text, msg_ids bigint[])
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_name text := 'pgmq.' || lower(queue_name);
    v_ring bigint := pg_sequence_last_value('weir_log_pgmq.claims_ring');
    v_queue int;
    v_special regclass;
    v_claim bigint;
    v_ids int8multirange;
    v_done int;
    q weir_internal.queues;
begin
    select w.no, w.special into v_queue, v_special from weir_internal.queues w where w.name = v_name;
    v_claim := case v_ring % 4
        when 0 then pgmq._claim_of_0(v_queue, msg_ids[1])
        when 2 then pgmq._claim_of_1(v_queue, msg_ids[1])
    end;
    if v_claim is not null and current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
        and (case when cardinality(msg_ids) > 32 then pg_advisory_xact_lock(weir_internal.claim_lock(v_claim))
                  else weir_log_pgmq.lock_claim(v_claim, msg_ids) end) is not null
        and pg_sequence_last_value(v_special) = 0 then
        select range_agg(int8range(i, i, '[]')) into v_ids from unnest(msg_ids) i;
        v_done := case v_ring % 4
            when 0 then weir_log_pgmq.ack_all_0(v_ring, v_name, v_claim, v_ids)
            when 2 then weir_log_pgmq.ack_all_1(v_ring, v_name, v_claim, v_ids)
        end;
        if v_done = cardinality(msg_ids) then
            return query select unnest(msg_ids);
            return;
        elsif v_done is not null then
            return query select distinct i from unnest(msg_ids) i where i is not null;
            return;
        end if;
    end if;
    q := pgmq._find(queue_name);
    perform weir_internal.check_isolation('delete');
    return query select m.msg_id from unnest(pgmq._take_out_many(q, pgmq._group(q), msg_ids, 'delete')) m;
end
$$;

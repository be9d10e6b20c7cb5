-- pgmq._fetch(p_queue, p_lease, p_max)
-- Claims messages for a reader: weir_log.receive, but that any lease is right, also none, and any number.
--
-- Parameters:
--   p_queue  name of the queue
--   p_lease  how long they are the reader's; 0 or less: for whoever comes next
--   p_max    messages; null = all
-- Returns: the records.
-- Raises: 42P01, 2201W, WR003, WR012, WR019
-- Locks: as weir_log.receive.
create or replace function pgmq._fetch(p_queue text, p_lease interval, p_max int)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    p weir_internal.peeked;
    v_name text := 'pgmq.' || lower(p_queue);
    v_ring bigint := pg_sequence_last_value('weir_log_pgmq.claims_ring');
    v_log bigint := pg_sequence_last_value('weir_log_pgmq.log_ring');
    v_now timestamptz;
    v_out weir.message_record[];
begin
    case (case when p_max > 0 and p_lease is not null
            and current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
            weir_internal.read_claims_table(v_ring) * 3 + v_log % 3 end)
        when 0 then v_out := weir_log_pgmq.receive_plainly_0_0(v_name, 'default', p_max, p_lease, v_ring, v_log);
        when 1 then v_out := weir_log_pgmq.receive_plainly_0_1(v_name, 'default', p_max, p_lease, v_ring, v_log);
        when 2 then v_out := weir_log_pgmq.receive_plainly_0_2(v_name, 'default', p_max, p_lease, v_ring, v_log);
        when 3 then v_out := weir_log_pgmq.receive_plainly_1_0(v_name, 'default', p_max, p_lease, v_ring, v_log);
        when 4 then v_out := weir_log_pgmq.receive_plainly_1_1(v_name, 'default', p_max, p_lease, v_ring, v_log);
        when 5 then v_out := weir_log_pgmq.receive_plainly_1_2(v_name, 'default', p_max, p_lease, v_ring, v_log);
        else v_out := null;
    end case;
    if v_out is not null then
        return v_out;
    end if;
    p.q := pgmq._find(p_queue);
    p.g := pgmq._group(p.q);
    perform weir_internal.check_isolation('read');
    perform pgmq._check_vt(p.q, weir_internal.clock() + p_lease);
    if p_max < 0 then
        raise exception 'LIMIT must not be negative' using errcode = '2201W', hint = 'Give a qty of 0 or more.';
    elsif p_max = 0 or (p.g).paused or (p.g).queue_paused then
        return '{}';
    end if;
    v_now := weir_internal.clock();
    loop
        v_ring := pg_sequence_last_value('weir_log_pgmq.claims_ring');
        case weir_internal.read_claims_table(v_ring)
            when 0 then p := weir_log_pgmq.peek_0(v_name, 'default', v_now);
            when 1 then p := weir_log_pgmq.peek_1(v_name, 'default', v_now);
            else p := weir_log_pgmq.peek_2(v_name, 'default', v_now);
        end case;
        exit when pg_sequence_last_value('weir_log_pgmq.claims_ring') = v_ring;
    end loop;
    return weir_log_pgmq.claim_all(p, coalesce(p_max, 2147483647), p_lease, v_now, false);
end
$$;

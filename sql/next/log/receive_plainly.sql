-- weir_log.receive_plainly(p_queue, p_group, p_max, p_lease)
-- What a receive does when nothing is special, in few statements: a group without order or limits, one lane, nothing due
-- again, nothing expired, no transaction that was open at the interval's beginning. It does what claim_new does, for a
-- third of the price, and takes the lane's lock only when it has found something: the INSERT sees whether the cursor is
-- still the one that was read. All else is left to weir_log.receive, and nothing is written then.
--
-- Parameters: as weir_log.receive
-- Returns: the records claimed; none when there is nothing; null: weir_log.receive must see.
-- Raises: none
-- Locks: the lane's advisory lock, until the transaction ends.
create or replace function weir_log.receive_plainly(p_queue text, p_group text, p_max int, p_lease interval)
returns weir.message_record[]
language plpgsql
as $$
declare
    p weir_internal.plain;
    r weir_internal.log_record;
    v_records weir_internal.log_record[];
    o weir.message_record;
    v_out weir.message_record[];
    v_ids int8multirange := '{}';
    v_taken int := 0;
    v_skip int;
    v_n int;
    v_id bigint;
    v_more boolean := false;
    v_txid xid8;
    v_pos bigint;
    v_now timestamptz := weir_internal.clock();
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
    v_hi bigint;
    v_claimed boolean;
begin
    case weir_internal.read_claims_table(v_ring)
        when 0 then p := weir_log.peek_plain_0(p_queue, p_group, v_now);
        when 1 then p := weir_log.peek_plain_1(p_queue, p_group, v_now);
        else return null;
    end case;
    if p.cursor_id is null then
        return null;
    end if;
    if p.finished then
        p.prev := p.cur;
        p.cur := weir_internal.snapshot();
        p.seg := p.lo;
        p.txid := '0';
        p.pos := 0;
    end if;
    v_hi := pg_sequence_last_value('weir_log.log_ring');
    if p.seg <> v_hi
        or p.txid < pg_snapshot_xmax(p.prev) and pg_snapshot_xmin(p.prev) < pg_snapshot_xmax(p.prev) then
        return null;
    end if;
    case v_hi % 3
        when 0 then v_records := weir_log.read_plain_0(p, p_max);
        when 1 then v_records := weir_log.read_plain_1(p, p_max);
        else v_records := weir_log.read_plain_2(p, p_max);
    end case;
    if v_records is null then
        if p.finished and pg_sequence_last_value('weir_log.log_ring') = v_hi then
            return '{}';
        end if;
        return null; -- the interval ends
    elsif not pg_try_advisory_xact_lock(weir_internal.lane_lock(p.group_no, 0, 1)) then
        return null;
    end if;
    v_id := nextval('weir_internal.claim_numbers');
    foreach r in array v_records loop
        if r.n = 0 then
            v_more := true;
            exit;
        elsif r.enqueued_at < p.since then
            return null;
        end if;
        v_skip := weir_internal.claimed_of(r, p.txid, p.pos);
        v_n := least(r.n - v_skip, p_max - v_taken);
        o := weir_internal.slice(r, v_id, v_skip, v_n);
        v_out := array_append(v_out, o);
        v_taken := v_taken + v_n;
        v_txid := r.txid;
        v_pos := coalesce(o.ids[v_n], o.first_id + v_n - 1);
        v_ids := v_ids + weir_internal.ids_of(o);
        v_more := v_pos < r.id;
    end loop;
    v_now := weir_internal.clock();
    if v_id % 16 = 0 then
        p.low := coalesce((select u.id from weir_log.unfinished(p.group_no, 0, 1, p.low, 'infinity', 1) u), v_id);
    end if;
    case weir_internal.read_claims_table(v_ring)
        when 0 then v_claimed := weir_log.claim_plain_0(
            v_ring, p, v_id, v_txid, v_pos, not v_more, v_ids, v_taken, v_now, v_now + p_lease);
        else v_claimed := weir_log.claim_plain_1(
            v_ring, p, v_id, v_txid, v_pos, not v_more, v_ids, v_taken, v_now, v_now + p_lease);
    end case;
    return case when v_claimed then v_out end;
end
$$;

-- weir_log.receive_plainly(p_queue, p_group, p_max, p_lease)
-- What a receive does when nothing is special, in two statements: a group without order or limits, one lane in the open
-- segment, nothing due again, nothing expired. It does what claim_new does, for a third of the price, since PL/pgSQL
-- prepares each expression anew in every transaction. It reads what is left of the cursor's interval and the next one
-- as one, which is the same when no transaction that was in progress between them has sent something. The lane's lock
-- is taken only when something was found: the INSERT sees whether the cursor is still the one that was read. All that
-- is not plain is left to weir_log.receive, and nothing is written then.
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
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
    p weir_internal.plain;
    r weir_internal.log_record;
    o weir.message_record;
    v_records weir_internal.log_record[];
    v_out weir.message_record[];
    v_id bigint;
    v_skip int;
    v_taken int := 0;
    v_ids int8multirange := '{}';
    v_late boolean; -- a transaction that was in progress in cur has sent something
    v_claimed boolean;
begin
    if pg_current_xact_id_if_assigned() is not null then
        return null; -- what this transaction has sent is not for itself, which weir_internal.snapshot() knows
    end if;
    case v_ring % 2 * 12 + v_ring / 2 % 2 * 3 + v_hi % 3
        when 0 then p := weir_log.peek_plain_0_0(p_queue, p_group, v_hi, p_max);
        when 1 then p := weir_log.peek_plain_0_1(p_queue, p_group, v_hi, p_max);
        when 2 then p := weir_log.peek_plain_0_2(p_queue, p_group, v_hi, p_max);
        when 3 then p := weir_log.peek_plain_1_0(p_queue, p_group, v_hi, p_max);
        when 4 then p := weir_log.peek_plain_1_1(p_queue, p_group, v_hi, p_max);
        when 5 then p := weir_log.peek_plain_1_2(p_queue, p_group, v_hi, p_max);
        else return null;
    end case;
    if p.cursor_id is null then
        return null;
    elsif pg_snapshot_xmin(p.cur) < pg_snapshot_xmax(p.cur) then
        case v_hi % 3
            when 0 then v_late := weir_log.is_late_0(p);
            when 1 then v_late := weir_log.is_late_1(p);
            else v_late := weir_log.is_late_2(p);
        end case;
        if v_late then
            return null;
        end if;
    end if;
    if p_max = 1 then
        v_records := array[p.record];
    else
        case v_hi % 3
            when 0 then v_records := weir_log.read_plain_0(p, p_max);
            when 1 then v_records := weir_log.read_plain_1(p, p_max);
            else v_records := weir_log.read_plain_2(p, p_max);
        end case;
    end if;
    if (v_records[1]).id is null then
        return case when pg_sequence_last_value('weir_log.log_ring') = v_hi
            and pg_sequence_last_value('weir_log.claims_ring') = v_ring then '{}'::weir.message_record[] end;
    elsif pg_sequence_last_value('weir_log.log_ring') <> v_hi -- the table may serve for another segment
        or not pg_try_advisory_xact_lock(weir_internal.lane_lock(p.group_no, 0, 1)) then
        return null;
    end if;
    v_id := nextval('weir_internal.claim_numbers');
    foreach r in array v_records loop
        v_skip := case when r.txid = p.txid then greatest(0, p.pos - r.id + r.n) else 0 end;
        if r.ids is not null or r.enqueued_at < p.since then
            return null;
        elsif v_skip = 0 and r.n <= p_max - v_taken then
            o := row(v_id, r.n, r.id - r.n + 1, null, 1, null, r.keys, r.payloads, r.headers, r.enqueued_at, null);
        else
            o := weir_internal.slice(r, v_id, v_skip, least(r.n - v_skip, p_max - v_taken));
        end if;
        v_out := array_append(v_out, o);
        v_taken := v_taken + o.n;
        v_ids := v_ids + int8multirange(int8range(o.first_id, o.first_id + o.n));
    end loop;
    if v_id % 16 = 0 then
        p.low := coalesce((select u.id from weir_log.unfinished(p.group_no, 0, 1, p.low, 'infinity', 1) u), v_id);
    end if;
    if v_ring / 2 % 2 = 0 then
        v_claimed := weir_log.claim_plain_0(v_ring, p, v_id, r.txid >= pg_snapshot_xmax(p.cur),
            (v_records[1]).txid, (v_records[1]).id - 1, r.txid, o.first_id + o.n - 1, v_ids, v_taken, p_lease);
    else
        v_claimed := weir_log.claim_plain_1(v_ring, p, v_id, r.txid >= pg_snapshot_xmax(p.cur),
            (v_records[1]).txid, (v_records[1]).id - 1, r.txid, o.first_id + o.n - 1, v_ids, v_taken, p_lease);
    end if;
    return case when v_claimed then v_out end;
end
$$;

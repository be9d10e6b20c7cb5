-- weir_log.find_records(q, p_ids, p_txids), weir_log.lanes_of(q)
-- find_records: where in the log messages stand, claimed or not, as far as it still has them. The tables are looked
-- into one after the other, from the open one on, until all are found, so that no more of them are locked than need be.
-- lanes_of: the lanes of a queue, those of keys only when a key was sent: see weir_log.lanes.
--
-- Parameters:
--   q        the queue
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
-- Returns: find_records: at least one element for each message that stands in a lane of the queue; lanes_of: the lanes.
-- Raises: none
-- Locks: ACCESS SHARE on segments, until the transaction ends.
create or replace function weir_log.find_records(q weir_internal.queues, p_ids bigint[], p_txids xid8[])
returns weir_internal.found_record[]
language plpgsql stable
as $$
declare
    v_lanes int[] := weir_log.lanes_of(q);
    v_open int := pg_sequence_last_value('weir_log.log_ring') % 3;
    v_ids bigint[] := p_ids; -- not found yet
    v_txids xid8[] := p_txids;
    v_step weir_internal.found_record[];
    v_out weir_internal.found_record[] := '{}';
begin
    foreach v_open in array array[v_open, (v_open + 2) % 3, (v_open + 1) % 3, 3] loop
        case v_open
            when 0 then v_step := weir_log.find_records_0(q.no, v_lanes, v_ids, v_txids);
            when 1 then v_step := weir_log.find_records_1(q.no, v_lanes, v_ids, v_txids);
            when 2 then v_step := weir_log.find_records_2(q.no, v_lanes, v_ids, v_txids);
            else v_step := weir_log.find_records_3(q.no, v_lanes, v_ids, v_txids);
        end case;
        if cardinality(v_step) > 0 then
            v_out := v_out || v_step;
            select array_agg(u.id), array_agg(u.txid) into v_ids, v_txids
            from unnest(v_ids, v_txids) u (id, txid)
            where u.id not in (select f.id from unnest(v_step) f);
            exit when v_ids is null;
        end if;
    end loop;
    return v_out;
end
$$;
create or replace function weir_log.lanes_of(q weir_internal.queues)
returns int[]
language plpgsql stable
as $$
begin
    return array(select generate_series(0, 7))
        || case when q.keyed or exists (select from weir_internal.keyed_queues k where k.queue_no = q.no)
                or exists (select from weir_internal.queues w where w.no = q.no and w.keyed)
            then array(
                select generate_series(q.key_epochs[1], q.key_epochs[cardinality(q.key_epochs)] + q.key_lanes - 1))
            else '{}' end;
end
$$;

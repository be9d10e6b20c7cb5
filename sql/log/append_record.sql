-- weir_log.append_record(r)
-- Appends a record to the open segment. The segment is chosen by a sequence because every transaction, of whatever
-- isolation, must see a rotation at once; the INSERT looks at it again under its table lock, so no row can reach a
-- segment that rotation has found without writers.
--
-- Parameters:
--   r  the record; its txid, and its enqueued_at when that is null, are set here
-- Returns: the number of the segment.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
create or replace function weir_log.append_record(r weir_internal.log_record)
returns bigint
language plpgsql
as $$
declare
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.log_ring');
        if (case v_ring % 3
                when 0 then weir_log.append_0(v_ring, r)
                when 1 then weir_log.append_1(v_ring, r)
                else weir_log.append_2(v_ring, r)
            end) then
            return v_ring;
        end if;
    end loop;
end
$$;

-- weir_log.has_work(q, c, p_now)
-- Whether a cursor may have something to claim, asked before its lock is taken: a transaction that goes on after an
-- empty receive must not keep a lane from others.
--
-- Parameters:
--   q      the queue
--   c      the cursor
--   p_now  time against which leases expire
-- Returns: false only when there is nothing.
-- Raises: none
-- Locks: ACCESS SHARE on the open segment.
create or replace function weir_log.has_work(q weir_internal.queues, c weir_internal.claim, p_now timestamptz)
returns boolean
language plpgsql
as $$
declare
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
begin
    if not c.finished or c.next_expiry <= p_now then
        return true;
    end if;
    if c.lo < v_hi and weir_log.next_segment(c.lo, v_hi, c.cur) < v_hi then
        return true;
    end if;
    return case v_hi % 3
        when 0 then weir_log.has_new_0(c, q.no)
        when 1 then weir_log.has_new_1(c, q.no)
        else weir_log.has_new_2(c, q.no) end
        or pg_sequence_last_value('weir_log.log_ring') <> v_hi;
end
$$;

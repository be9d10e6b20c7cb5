-- weir_internal.create_cursors(q, p_group, p_at_end)
-- Gives each lane of a group its first cursor. The caller holds the queue's administration lock, so that no segment is
-- freed meanwhile.
--
-- Parameters:
--   q         the queue
--   p_group   group number
--   p_at_end  true: begin with what is not committed yet
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the claim log.
create or replace function weir_internal.create_cursors(q weir_internal.queues, p_group smallint, p_at_end boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
begin
    c.what := 0;
    c.cur := case when p_at_end then weir_internal.snapshot() else '1:1:' end;
    c.prev := c.cur;
    select min(no) into c.lo from weir_internal.segments where queue_no = q.no and freed_by is null;
    if p_at_end then -- what it has passed may be truncated, and the table serve for another segment
        c.lo := weir_internal.next_segment(
            q.no, c.lo, pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no)), c.cur);
    end if;
    c.seg := c.lo;
    c.finished := true;
    c.due_at := case when p_at_end then weir_internal.clock() else '-infinity' end;
    c.due_id := 0;
    c.n := 0;
    c.next_expiry := 'infinity';
    for l in 0 .. q.lanes loop
        c.slot := p_group * (q.lanes + 1) + l;
        c.id := nextval(format('weir_internal.q%s_claim_ids', q.no)) * 16384 + c.slot;
        c.low := c.id;
        execute format('select weir_internal.q%s_put($1)', q.no) using c;
    end loop;
    perform weir_internal.start_tally(q, p_group, '{}');
end
$$;

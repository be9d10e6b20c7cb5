-- weir_internal.move_cursors(q, g, p)
-- Puts the cursors of a group at a place. The caller holds the locks of the group's lanes and has ended its claims.
--
-- Parameters:
--   q  the queue
--   g  the group
--   p  the place
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_internal.move_cursors(
    q weir_internal.queues, g weir_internal.groups, p weir_internal.place)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    v_hi bigint := pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no));
    v_at_end boolean := p.cur is not null;
begin
    for l in 0 .. case when v_at_end then q.lanes else q.lanes - 1 end loop
        execute format('select * from weir_internal.q%s_cursor($1)', q.no)
        into c using (g.no * (q.lanes + 1) + l)::smallint;
        if l = q.lanes then
            c.cur := p.cur;
            c.txid := p.bound;
            c.due_id := case when c.due_at > p.due_at then c.due_id else 9223372036854775807 end;
            c.due_at := greatest(c.due_at, p.due_at);
        else
            c.prev := coalesce(p.cur, '1:1:');
            c.cur := case when p.id is null then c.prev else weir_internal.snapshot() end;
            c.finished := p.id is null;
            c.lo := case when v_at_end then weir_internal.next_segment(q.no, c.lo, v_hi, p.cur) else p.seg end;
            c.seg := c.lo;
            c.txid := coalesce(p.txid, '0');
            c.pos := case when l = p.lane then p.id - 1 else 0 end;
        end if;
        execute format('select weir_internal.q%s_checkpoint($1)', q.no) using c;
    end loop;
end
$$;

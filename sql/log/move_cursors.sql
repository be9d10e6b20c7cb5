-- weir_log.move_cursors(q, g, p)
-- Puts the cursors of a group at a place, in all lanes, also those that have no row yet; lanes that are split become
-- one again. The caller holds the locks of the group's lanes and has ended its claims.
--
-- Parameters:
--   q, g  queue and group
--   p     the place
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.move_cursors(
    q weir_internal.queues, g weir_internal.groups, p weir_internal.place)
returns void
language plpgsql
as $$
declare
    c weir_internal.claim;
    v_hi bigint := pg_sequence_last_value('weir_log.log_ring');
    v_at_end boolean := p.cur is not null;
begin
    for c in select * from weir_log.group_cursors(q, g) loop
        c.inflight := null;
        c.next_expiry := 'infinity';
        if c.lane < 0 then
            continue when not v_at_end;
            c.cur := p.cur;
            c.txid := p.bound;
            c.due_id := case when c.due_at > p.due_at then c.due_id else 9223372036854775807 end;
            c.due_at := greatest(c.due_at, p.due_at);
        elsif c.stripe > 1 then
            c.width := 0; -- who comes to it sees that it is over
        else
            c.width := null;
            c.prev := coalesce(p.cur, '1:1:');
            c.cur := case when p.id is null then c.prev else weir_internal.snapshot() end;
            c.finished := p.id is null;
            c.lo := case when v_at_end then weir_log.next_segment(c.lo, v_hi, p.cur) else p.seg end;
            c.seg := c.lo;
            c.txid := coalesce(p.txid, '0');
            c.pos := case when c.lane = p.lane then p.id - 1 else 0 end;
        end if;
        perform weir_log.move_cursor(c);
    end loop;
end
$$;

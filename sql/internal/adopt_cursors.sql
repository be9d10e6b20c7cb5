-- weir_internal.adopt_cursors(q, g, p_positions)
-- Moves the first cursors of a group in an adopted log over what it had claimed.
--
-- Parameters:
--   q            the queue
--   g            the group
--   p_positions  for each lane, from 0 on, the highest message id that was claimed
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the claim log.
create or replace function weir_internal.adopt_cursors(
    q weir_internal.queues, g weir_internal.groups, p_positions bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    v_done boolean;
begin
    for l in 0 .. q.lanes - 1 loop
        execute format('select * from weir_internal.q%s_cursor($1)', q.no)
        into c using (g.no * (q.lanes + 1) + l)::smallint;
        execute format(
            'select not exists (select from weir_internal.q%s_log_0
                                where lane = $1 and txid = ''1'' and id > $2)', q.no)
        into v_done using l, p_positions[l + 1];
        c.prev := '1:1:';
        c.cur := '2:2:'; -- the transaction 1 and nothing else
        c.txid := '1';
        c.pos := p_positions[l + 1];
        c.finished := v_done;
        execute format('select weir_internal.q%s_checkpoint($1)', q.no) using c;
    end loop;
end
$$;

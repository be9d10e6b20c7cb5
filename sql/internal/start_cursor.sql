-- weir_internal.start_cursor(q, p_at_end)
-- The cursor of a group that begins.
--
-- Parameters:
--   q         the queue
--   p_at_end  true: with what is not committed yet; false: with all that the log still has
-- Returns: the cursor.
-- Raises: none
-- Locks: none
create or replace function weir_internal.start_cursor(q weir_internal.queues, p_at_end boolean)
returns weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    v_schema text := (select schema_name from weir_internal.logs where no = q.log_no);
begin
    c.cur := case when p_at_end then weir_internal.snapshot() else '1:1:' end;
    c.prev := c.cur;
    execute format('select min(no) from %I.segments', v_schema) into c.lo;
    if q.moving_from is not null then
        c.lo := 0; -- two logs, each with segments of its own
    end if;
    c.seg := c.lo;
    c.txid := '0';
    c.pos := 0;
    c.finished := true;
    c.due_at := case when p_at_end then weir_internal.clock() else '-infinity' end;
    c.due_id := 0;
    c.next_expiry := 'infinity';
    return c;
end
$$;

-- weir_internal.adopt_messages(q, g, p_lane, p_messages)
-- Puts messages that one group has still to be delivered where it finds them: due at once in <q>_new_later, or at the
-- end of their lines.
--
-- Parameters:
--   q           the queue
--   g           the group
--   p_lane      the lane they were sent into
--   p_messages  in order
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked` or <q>_new_later.
create or replace function weir_internal.adopt_messages(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_messages weir_internal.later_row[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if g.ordered then
        perform weir_internal.park(q, g, p_lane, p_messages, weir_internal.clock(), null, false, false);
    else
        execute format(
            'insert into weir_internal.q%s_new_later
             select ''1'', $2, m.id, $3, m.attempts, m.key, m.payload, m.headers, m.enqueued_at
             from unnest($1) m', q.no)
        using p_messages, weir_internal.clock(), g.id;
    end if;
end
$$;

-- weir_internal.admit(p_queue, p_count)
-- Decides whether messages may be sent to a queue that has a limit, when their ids are beyond what is known to fit: it
-- counts the backlog anew. The sequence q<no>_backlog_end is the id up to which messages are sent without counting: the
-- last id given out plus the room that was left. So counting is needed once per so many messages as there was room for.
--
-- How exact it is: the count sees what is committed and the caller's own. So the backlog can exceed the limit by what
-- other transactions had sent and not committed at that moment, and by what comes back to a group by seek and redrive
-- or comes with a new group. Ids that were taken and not used (rollbacks, repeats) only make the next count come
-- sooner. A queue that was found full is not counted again, and its senders refused, for ten times as long as the count
-- took, a second at most; then the next sender counts. So producers go on after consumers have caught up, whoever calls
-- maintain or not.
--
-- Parameters:
--   p_queue  queue number
--   p_count  how many messages are to be sent; their ids are taken already
-- Returns: nothing.
-- Raises: WR012 (from a fixed snapshot that is older than the claim log's last turn), WR016, WR020
-- Locks: none
create or replace function weir_internal.admit(p_queue int, p_count int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_name text := format('weir_internal.q%s_backlog_', p_queue);
    v_micros bigint := weir_internal.to_micros(weir_internal.clock());
    v_full bigint := pg_sequence_last_value(v_name || 'full') - v_micros; -- how long it still counts as full
    v_depth bigint := pg_sequence_last_value(v_name || 'depth');
    v_last bigint := pg_sequence_last_value(format('weir_internal.q%s_ids', p_queue));
begin
    select * into q from weir_internal.queues where no = p_queue;
    if q.backlog_max is null then -- not any more
        return;
    end if;
    if v_full not between 1 and 1000000 or v_depth + p_count <= q.backlog_max then
        begin
            v_depth := weir_internal.backlog(q);
        exception
            when sqlstate 'WR016' then
                -- a fixed snapshot may be older than the claim log's last turn; the transaction can be tried again
                perform weir_internal.check_isolation('send');
                raise;
        end;
        perform setval(v_name || 'depth', v_depth);
        if v_depth + p_count <= q.backlog_max then
            perform setval(v_name || 'end', v_last + q.backlog_max - v_depth - p_count);
            return;
        end if;
        v_full := weir_internal.to_micros(weir_internal.clock()) - v_micros;
        perform setval(v_name || 'full', v_micros + least(1000000, 11 * v_full));
    end if;
    raise exception 'queue "%" is full: its slowest group is % messages behind, and % more exceed its limit of %',
        q.name, v_depth, p_count, q.backlog_max
        using errcode = 'WR020',
        hint = 'Send again when consumers have caught up, or raise backlog_max with weir.configure_queue.';
end
$$;

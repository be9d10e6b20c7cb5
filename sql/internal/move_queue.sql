-- weir_internal.move_queue(p_queue, p_log)
-- Begins to move a queue to another log; see weir.move_queue, and internal/continue_moves.sql for how it ends. The
-- queue, its groups and its lanes keep their numbers, which are the same in every log, so nothing but the two logs
-- knows of it. All that changes is its row: its log, and the one that it is leaving.
--
-- Parameters:
--   p_queue  name of the queue
--   p_log    name of the log
-- Returns: nothing.
-- Raises: WR001, WR006, WR012, WR019, WR023
-- Locks: with gates, the lock of rights; the queue's administration; its row; until the transaction ends.
create or replace function weir_internal.move_queue(p_queue text, p_log text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    o weir_internal.queues;
    l weir_internal.logs := weir_internal.find_log(p_log);
begin
    perform weir_internal.check_isolation('move_queue');
    perform pg_advisory_xact_lock(weir_internal.rights_lock()) where weir_internal.has_gates(p_queue);
    o := weir_internal.lock_queue(p_queue);
    l := weir_internal.log_for(l.name);
    if o.log_no = l.no then
        return;
    elsif o.moving_from is not null then
        perform weir_internal.fail_moving(o, 'it cannot be moved again yet');
    end if;
    update weir_internal.queues
    set log_no = l.no, origin = l.origin, moving_from = o.log_no, moving_origin = o.origin,
        moving_by = pg_current_xact_id(),
        waiting = format('%I.waiting_%s', l.schema_name, o.no % 64)::regclass,
        special = format('%I.special_%s', l.schema_name, o.no % 64)::regclass
    where no = o.no
    returning * into q;
    update weir_internal.groups w set start.lo = 0, start.seg = 0 where w.queue_no = q.no; -- which each log has
    execute format('select %s.begin_here($1)', l.schema_name) using q;
    perform weir_internal.remake_gates(q);
    execute format('select %s.wake($1)', weir_internal.moving_logs(q, 1)) using o; -- who waits is to wait for both
end
$$;

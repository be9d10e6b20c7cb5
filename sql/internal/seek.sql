-- weir_internal.seek(queue_name, group_name, p_position)
-- Moves a group to another place in the log; see weir.seek.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   p_position  'start', 'end', a timestamp or a message's id
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR012, WR018
-- Locks: the queue's administration lock, the turn of a group with lines of keys, the locks of the group's lanes
-- and of its claims, until the transaction ends.
create or replace function weir_internal.seek(queue_name text, group_name text, p_position text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
    p weir_internal.place;
    v_rest weir_internal.later_row[];
begin
    perform weir_internal.check_isolation('seek');
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    g := weir_internal.find_group(q, group_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -2 - g.no) where g.keyed;
    perform weir_internal.lock_lanes(q, g);
    perform weir_internal.lock_claims(q, g);
    p := weir_internal.find_place(q, p_position);
    v_rest := weir_internal.take_unfinished(q, g, p);
    perform weir_internal.end_claims(q, g);
    perform weir_internal.move_cursors(q, g, p);
    update weir_internal.groups set since = coalesce(p.since, '-infinity') where queue_no = q.no and no = g.no;
    perform weir_internal.retry(q, g, v_rest, interval '0');
end
$$;

-- weir_internal.drop_group(queue_name, group_name)
-- Drops a group with its claims and dead letters. The messages stay for the other groups.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
-- Returns: nothing.
-- Raises: WR001, WR003, WR012
-- Locks: the queue's administration lock, the turn of a group with lines of keys, the locks of the group's lanes and
-- its settling lock, until the transaction ends.
create or replace function weir_internal.drop_group(queue_name text, group_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
begin
    perform weir_internal.check_isolation('drop_group');
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    g := weir_internal.find_group(q, group_name);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -2 - g.no) where g.keyed;
    perform weir_internal.lock_lanes(q, g);
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), 16384 + g.no);
    perform weir_internal.end_claims(q, g);
    perform weir_internal.mark_lanes(q, g);
    execute format('delete from weir_internal.q%s_parked where group_id in ($1, -$1)', q.no) using g.id;
    perform weir_internal.clear_lines(q, g) where g.keyed;
    if to_regclass(format('weir_internal.q%s_rate_%s', q.no, g.id)) is not null then -- else a notice would say so
        execute format('drop sequence weir_internal.q%s_rate_%s', q.no, g.id);
    end if;
    delete from weir_internal.dead_letters where queue_no = q.no and group_no = g.no;
    delete from weir_internal.groups where queue_no = q.no and no = g.no;
end
$$;

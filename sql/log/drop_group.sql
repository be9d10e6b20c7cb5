-- weir_log.drop_group(p_queue, p_group), weir_log.clear_group(q, g)
-- Drops a group with its claims and dead letters. The messages stay for the other groups. Its number is given to no
-- other group, so what the claim log, `delayed` and the log hold of it is no one's: rotation and maintain take it away.
-- clear_group: does what must be done in a log; of a queue that is moving, in both.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   q, g     queue and group
-- Returns: nothing.
-- Raises: WR001, WR003, WR012, WR019
-- Locks: the queue's administration, the limit lock of a limited group, the locks of the group's lanes and its settling
-- lock, the upkeep of the log, shared: until the transaction ends.
create or replace function weir_log.drop_group(p_queue text, p_group text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
begin
    perform weir_internal.check_isolation('drop_group');
    if q.moving_from is not null then
        execute format('select %s.clear_group($1, $2)', weir_internal.moving_logs(q, 1)) using q, g;
    end if;
    perform weir_log.clear_group(q, g);
    delete from weir_internal.dead_letters where group_no = g.no;
    delete from weir_internal.groups where no = g.no;
    perform weir_internal.end_rate(g);
end
$$;
create or replace function weir_log.clear_group(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
as $$
begin
    perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no)) where g.limited;
    perform weir_log.lock_lanes(q, g);
    perform pg_advisory_xact_lock(weir_internal.settle_lock(g.no));
    perform weir_log.pause_upkeep(); -- which may come to the rows that are deleted here, and a next group wait for it
    perform weir_log.end_claims(q, g); -- so that an ack that comes yet is told
    perform weir_log.bump_cursor(g);
    delete from weir_log.parked where group_no in (g.no, -g.no);
    perform weir_log.clear_key_queues(g) where g.keyed;
    delete from weir_log.delayed where queue_no = q.no and group_no = g.no;
end
$$;

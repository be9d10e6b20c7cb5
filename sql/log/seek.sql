-- weir_log.seek(p_queue, p_group, p_position)
-- Moves a group to another place in the log; see weir.seek.
--
-- What the log will give again is dropped where it stands aside, so the log must have it, although maintain judges what
-- is needed by where the group stood: see weir_log.pause_upkeep.
--
-- Parameters:
--   p_queue     name of the queue
--   p_group     name of the group
--   p_position  'start', 'end', a timestamp or a message's id
-- Returns: nothing.
-- Raises: WR001, WR003, WR006, WR012, WR018, WR019
-- Locks: the queue's administration, the limit lock of a limited group, the locks of the group's lanes and claims, the
-- upkeep of the log, shared: until the transaction ends.
create or replace function weir_log.seek(p_queue text, p_group text, p_position text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    g weir_internal.groups := weir_internal.find_group(q, p_group);
    p weir_internal.place;
    v_rest weir_internal.delayed_row[];
begin
    perform weir_internal.check_isolation('seek');
    perform pg_advisory_xact_lock(weir_internal.limit_lock(g.no)) where g.limited;
    perform weir_log.lock_lanes(q, g);
    perform weir_log.lock_claims(q, g);
    perform weir_log.pause_upkeep();
    p := weir_log.find_place(q, p_position);
    v_rest := weir_log.take_unfinished(q, g, p);
    perform weir_log.end_claims(q, g);
    perform weir_log.move_cursors(q, g, p);
    update weir_internal.groups set since = coalesce(p.since, '-infinity') where no = g.no;
    perform weir_log.retry(q, g, v_rest, interval '0');
end
$$;

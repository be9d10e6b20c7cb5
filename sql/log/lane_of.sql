-- weir_log.lane_of(q, p_key)
-- The lane of a key. The first key that a queue is sent is noted, so that from then on its groups look into these
-- lanes.
--
-- Parameters:
--   q      the queue
--   p_key  the key
-- Returns: the lane.
-- Raises: none
-- Locks: none
create or replace function weir_log.lane_of(q weir_internal.queues, p_key text)
returns int
language plpgsql
as $$
begin
    if not q.keyed and not exists (select from weir_internal.keyed_queues k where k.queue_no = q.no) then
        perform weir_log.mark_special(q);
        insert into weir_internal.keyed_queues values (q.no);
    end if;
    return q.key_epochs[cardinality(q.key_epochs)] + weir_internal.lane_of(p_key, q.key_lanes);
end
$$;

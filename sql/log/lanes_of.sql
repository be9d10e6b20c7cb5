-- weir_log.lanes_of(q, p_key_queue)
-- The lanes in which messages of a key queue may lie: one for each number of lanes that the queue has had, and may have
-- records of.
--
-- Parameters:
--   q            the queue
--   p_key_queue  the key queue
-- Returns: the lanes, the one for new messages first; null when p_key_queue is.
-- Raises: none
-- Locks: none
create or replace function weir_log.lanes_of(q weir_internal.queues, p_key_queue text)
returns int[]
language plpgsql stable
as $$
declare
    v_last int := cardinality(q.key_epochs);
begin
    if left(p_key_queue, 1) <> 'k' then
        return array[substr(p_key_queue, 2)::int];
    elsif p_key_queue is null then
        return null;
    elsif v_last = 1 then
        return array[q.key_epochs[1] + weir_internal.lane_of(substr(p_key_queue, 2), q.key_lanes)];
    end if;
    return array(
        select q.key_epochs[e] + weir_internal.lane_of(substr(p_key_queue, 2),
            case when e = v_last then q.key_lanes else q.key_epochs[e + 1] - q.key_epochs[e] end)
        from generate_series(v_last, 1, -1) e);
end
$$;

-- weir_log.end_parked(g, p_ids, p_claimed)
-- Takes messages that are done with out of their key queues; the next of each steps up. It looks for one range of ids
-- after the other, because a join may be planned as a walk over all that is parked.
--
-- Parameters:
--   g          the ordered group
--   p_ids      the messages; those that are not parked do not matter; null = none
--   p_claimed  what their claim held
-- Returns: nothing.
-- Raises: none
-- Locks: the rows, until the transaction ends.
create or replace function weir_log.end_parked(
    g weir_internal.groups, p_ids int8multirange, p_claimed int8multirange)
returns void
language plpgsql
as $$
declare
    r int8range;
    p record;
    v_queues text[];
    v_lanes int[];
begin
    for r in select unnest(p_ids) loop
        for p in
            delete from weir_log.parked w
            where w.group_no = g.no and w.id >= lower(r) and w.id < upper(r)
            returning w.key_queue, w.lane
        loop
            v_queues := v_queues || p.key_queue;
            v_lanes := v_lanes || p.lane;
        end loop;
    end loop;
    if v_queues is not null then
        perform weir_log.step_up(g, v_queues, v_lanes, p_claimed);
    end if;
end
$$;

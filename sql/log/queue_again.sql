-- weir_log.queue_again(q, g, e, p_messages, p_parked), weir_log.queue_delayed(q, g, p_messages)
-- queue_again: what an expired claim held of an ordered group goes to its key queues, or stays there: their heads may
-- be delivered to others. What it held besides is dead. queue_delayed: what became due takes its turn at the end of its
-- key queue. The caller holds the lock of the claim and of its lane; of lane -1.
--
-- Parameters:
--   q, g        queue and group
--   e           a row of the claim, with the ids that are left of it
--   p_messages  the messages, attempts counting every delivery so far; what became due in any order
--   p_parked    some stand in key queues
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_log.queue_again(
    q weir_internal.queues, g weir_internal.groups, e weir_internal.claim, p_messages weir_internal.delayed_row[],
    p_parked boolean)
returns void
language plpgsql
as $$
declare
    k weir_internal.delayed_row;
    v_put weir_internal.delayed_row[] := '{}';
    v_queues text[] := '{}';
    v_lanes int[] := '{}';
    v_queue text;
    v_lane int;
begin
    if not p_parked then
        v_put := p_messages;
    else
        perform weir_log.end_parked(g, e.ids - coalesce(
            (select range_agg(int8range(m.id, m.id + 1)) from unnest(p_messages) m), '{}'), '{}');
        foreach k in array p_messages loop
            update weir_log.parked p
            set holder = null, attempts = k.attempts, reason = k.reason
            where p.group_no = g.no and p.id = k.id
            returning p.key_queue, p.lane into v_queue, v_lane;
            if found then
                v_queues := v_queues || v_queue;
                v_lanes := v_lanes || v_lane;
            else
                v_put := array_append(v_put, k);
            end if;
        end loop;
    end if;
    if cardinality(v_put) > 0 then
        perform weir_log.park(q, g, nullif(greatest(e.lane, -1), -1), v_put, e.id, null, false);
    end if;
    if v_queues <> '{}' then
        perform weir_log.step_up(g, v_queues, v_lanes, '{}');
    end if;
end
$$;
create or replace function weir_log.queue_delayed(
    q weir_internal.queues, g weir_internal.groups, p_messages weir_internal.delayed_row[])
returns void
language plpgsql
as $$
begin
    perform weir_log.park(q, g, null, array(
            select row(null, null, null, null, m.id, m.attempts, m.key, m.headers, m.payload, m.body,
                       m.enqueued_at, m.reason)
                ::weir_internal.delayed_row
            from unnest(p_messages) m),
        null, null, true);
end
$$;

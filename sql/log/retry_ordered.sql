-- weir_log.retry_ordered(q, g, p_parts, p_rest, p_messages, p_delay)
-- Gives messages of an ordered group back to their key queues. Each takes along what the claim holds of the same key
-- besides (that was not worked at yet, so this delivery is not counted for it), so that nothing of a key in trouble is
-- delivered but its head. The caller holds the claim's lock.
--
-- Parameters:
--   q, g        queue and group
--   p_parts     the claim's rows
--   p_rest      what else of it is not done
--   p_messages  the messages in the order of delivery, attempts counting every delivery so far
--   p_delay     null = the group's backoff
-- Returns: the messages taken along.
-- Raises: WR006, WR016
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_log.retry_ordered(
    q weir_internal.queues, g weir_internal.groups, p_parts weir_internal.claim[], p_rest int8multirange,
    p_messages weir_internal.delayed_row[], p_delay interval)
returns int8multirange
language plpgsql
as $$
declare
    e weir_internal.claim;
    k weir_internal.delayed_row;
    v_now timestamptz := weir_internal.clock();
    v_queues text[] := '{}';
    v_lanes int[] := '{}';
    v_queue text;
    v_lane int;
    v_put weir_internal.delayed_row[];
    v_along int8multirange := '{}';
begin
    if p_delay < interval '0' or p_delay > interval '10 years' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    p_messages := array(
        select row(null, null, null, least(v_now + coalesce(p_delay, weir_internal.backoff(g, m.attempts)),
                                           case when g.ttl > interval '0' then m.enqueued_at + g.ttl end), -- gone
                   m.id, m.attempts, m.key, m.headers, m.payload, m.body, m.enqueued_at, m.reason)
                   ::weir_internal.delayed_row
        from unnest(p_messages) m);
    foreach e in array p_parts loop
        v_put := '{}';
        foreach k in array p_messages loop -- one by one: a join may be planned as a walk over all that is parked
            continue when not k.id <@ e.ids;
            update weir_log.parked p
            set due_at = case when p.key_queue = any(v_queues) then null else k.due_at end, attempts = k.attempts,
                holder = null, was_delayed = false, reason = k.reason
            where p.group_no = g.no and p.id = k.id
            returning p.key_queue, p.lane into v_queue, v_lane;
            if found then
                v_queues := v_queues || v_queue;
                v_lanes := v_lanes || v_lane;
            else
                v_put := array_append(v_put, k);
            end if;
        end loop;
        v_along := v_along + weir_log.park_along(g, e, e.ids * p_rest, v_queues)
            + weir_log.put_back(q, g, e, e.ids * p_rest, v_put);
    end loop;
    if v_queues <> '{}' then
        perform weir_log.step_up(g, v_queues, v_lanes, '{}');
    end if;
    return v_along;
end
$$;

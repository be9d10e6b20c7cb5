-- weir_log.due_heads(q, g, p_max, p_now), weir_log.is_free(q, g, p_key_queue, p_no, p_cursors)
-- Which key queues of an ordered group have a head that may be delivered; those that have been due for longest come
-- first. Nothing may be of a key queue of which a claim holds the head; nor of one whose head came out of no claim,
-- while a claim of its lane holds messages of the key: is_free sees to that, and has them stand ahead. What is past the
-- group's ttl is deleted when a head is that is due. The caller holds the lock of lane -1.
--
-- The index of what is due has heads, and few others: what waits for its turn has no time, what is claimed a holder.
-- What was parked out of a lane and what became due can be seen in another order than they stand in, since they are
-- parked under different locks. So the one behind may have been told that it is at the head: it stands for the head,
-- which was not.
--
-- Parameters:
--   q, g         queue and group
--   p_max        key queues
--   p_now        the time
--   p_key_queue  a key queue
--   p_no         its head
--   p_cursors    cursors of lanes that were looked at, trimmed
-- Returns: due_heads: the key queues; of each whether its head goes alone. is_free: whether it may be delivered;
--   p_cursors with those of its lanes.
-- Raises: WR016
-- Locks: the locks of the lanes of what came out of no claim, tried, until the transaction ends; deleted rows.
create or replace function weir_log.due_heads(
    q weir_internal.queues, g weir_internal.groups, p_max int, p_now timestamptz, out key_queues text[],
    out alone boolean[])
language plpgsql
as $$
declare
    h record;
    v_free record;
    v_start timestamptz := weir_internal.ttl_start(g);
    v_expired text[];
    v_lanes int[];
    v_cursors weir_internal.claim[] := '{}';
begin
    for i in 1 .. 100 loop
        key_queues := '{}';
        alone := '{}';
        v_expired := '{}';
        v_lanes := '{}';
        for h in
            select f.key_queue, f.no, f.lane, f.attempts, f.enqueued_at, f.was_delayed, f.no = t.no as is_due
            from (select * from weir_log.parked p
                  where p.group_no = g.no and p.due_at <= p_now and p.holder is null
                  order by p.due_at, p.no limit 1000 + p_max) t
            cross join lateral (
                select * from weir_log.parked p
                where p.group_no = g.no and p.key_queue = t.key_queue order by p.no limit 1) f
            where f.no = t.no or f.due_at is null and f.holder is null
        loop
            continue when not h.is_due and h.key_queue = any(key_queues || v_expired);
            if h.enqueued_at < v_start then
                v_expired := v_expired || h.key_queue;
                v_lanes := v_lanes || h.lane;
                continue;
            elsif h.was_delayed then
                v_free := weir_log.is_free(q, g, h.key_queue, h.no, v_cursors);
                v_cursors := v_free.p_cursors;
                continue when not v_free.is_so;
            end if;
            key_queues := key_queues || h.key_queue;
            alone := alone || (h.was_delayed or h.attempts > 0);
            exit when cardinality(key_queues) >= p_max;
        end loop;
        exit when v_expired = '{}';
        for h in select unnest(v_expired) as key_queue loop
            delete from weir_log.parked p
            where p.ctid = any(array(
                select w.ctid from weir_log.parked w
                where w.group_no = g.no and w.key_queue = h.key_queue and w.enqueued_at < v_start and w.holder is null
                order by w.no limit 1000 for update skip locked));
        end loop;
        perform weir_log.step_up(g, v_expired, v_lanes, '{}');
        exit when key_queues <> '{}';
    end loop;
end
$$;
create or replace function weir_log.is_free(
    q weir_internal.queues, g weir_internal.groups, p_key_queue text, p_no bigint,
    inout p_cursors weir_internal.claim[], out is_so boolean)
language plpgsql
as $$
declare
    c weir_internal.claim;
    u bigint;
    v_lane int;
    v_hash int;
begin
    is_so := weir_log.try_lanes(q, g, p_key_queue);
    if not is_so then
        return;
    end if;
    foreach v_lane in array weir_log.lanes_of(q, p_key_queue) loop
        c := null;
        select * into c from unnest(p_cursors) k where k.lane = v_lane;
        if c.lane is null then
            c := weir_log.trim_inflight(g, weir_log.cursor(g, v_lane, 1));
            p_cursors := array_append(p_cursors, c);
        end if;
        v_hash := weir_internal.hash_of(case when v_lane >= 16 then substr(p_key_queue, 2) end, v_lane);
        continue when v_hash <> all(c.keys);
        foreach u in array weir_log.claims_with(c, array[v_hash]) loop
            -- '{}' only: it holds none
            is_so := is_so and (weir_log.queue_claimed(q, g, v_lane, u, array[p_key_queue]) = '{}') is true;
        end loop;
    end loop;
    is_so := is_so and ( -- the claim was there until just now, and has left messages ahead
        select true from weir_log.parked p
        where p.group_no = g.no and p.key_queue = p_key_queue and p.no < p_no order by p.no limit 1) is null;
end
$$;

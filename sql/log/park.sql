-- weir_log.park(q, g, p_lane, p_messages, p_claim_row, p_holder, p_is_late)
-- Puts messages of an ordered group into their key queues: at the end, or, out of a claim, ahead of all that was parked
-- since it was made. What stands behind others has no time of its own unless it is to be delivered later than they are,
-- so that the index of what is due leads to heads, and to few others.
--
-- Numbers in a key queue are 16,384 times one that rises, plus the place. What is parked takes the next; what comes out
-- of a claim has the one of the claim's row, and so stands ahead also of what cannot be seen yet.
--
-- Parameters:
--   q, g         queue and group
--   p_lane       the lane; null = by each message's key
--   p_messages   in order, 10,000 at most; attempts as they shall be kept; due_at null = at once, when at the head
--   p_claim_row  the number of the claim's row that they come out of; null = at the end
--   p_holder     the claim under which they are worked at; null = none
--   p_is_late    what is at the head must ask whether a claim in its lane holds messages of the key: see claim_parked
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_log.park(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_messages weir_internal.delayed_row[],
    p_claim_row bigint, p_holder bigint, p_is_late boolean)
returns void
language plpgsql
as $$
declare
    v_no bigint := 16384 * coalesce(p_claim_row, nextval('weir_internal.claim_numbers'));
    v_now timestamptz := weir_internal.clock();
    v_heads tid[];
begin
    if p_claim_row is not null then -- what waits behind them from now on; it steps up when they have left
        v_heads := array(
            select f.ctid
            from (select distinct weir_internal.line_of(m.key, p_lane) as key_queue from unnest(p_messages) m) n
            cross join lateral (
                select w.ctid from weir_log.parked w
                where w.group_no = g.no and w.key_queue = n.key_queue and w.holder is null and w.due_at is not null
                    and w.was_delayed
                order by w.no limit 1 for update skip locked) f);
    end if;
    insert into weir_log.parked
    select q.no, g.no, m.key_queue,
        case when p_claim_row is not null then least(v_no, coalesce(f.no, v_no + 16384) - 16384) else v_no end + m.i,
        m.lane, m.id, m.attempts, m.key, m.headers, m.payload, m.body, m.enqueued_at,
        case when p_holder is not null then null
             when m.due_at > coalesce(m.before, '-infinity') then m.due_at
             when m.due_at is null and m.place = 1 and (f.no is null or p_claim_row is not null) then v_now end,
        p_holder, p_is_late, v_now, m.reason
    from (
        select u.*, n.key_queue, l.lane, row_number() over (partition by n.key_queue order by u.i) as place,
            max(u.due_at) over (partition by n.key_queue order by u.i
                rows between unbounded preceding and 1 preceding) as before
        from unnest(p_messages) with ordinality u
            (txid, queue_no, group_no, due_at, id, attempts, key, headers, payload, body, enqueued_at, reason, i)
        cross join lateral (select coalesce(p_lane, (weir_log.lanes_of(q, 'k' || u.key))[1], 0) as lane) l
        cross join lateral (select weir_internal.line_of(u.key, l.lane) as key_queue) n) m
    left join lateral (
        select p.no from weir_log.parked p
        where p.group_no = g.no and p.key_queue = m.key_queue order by p.no limit 1) f on true;
    if v_heads <> '{}' then
        update weir_log.parked p set due_at = null where p.ctid = any(v_heads);
    end if;
end
$$;

-- weir_internal.park(q, g, p_lane, p_messages, p_due_at, p_holder, p_came_late, p_ahead)
-- Puts messages of an ordered group at the end of their lines; those of a claim in a lane, which were delivered before,
-- ahead of what came out of `later` into their lines meanwhile. What stands behind others has no time of its own, so
-- that the index of what is due leads to heads only. The caller holds the lock of the lane, or the one of the claim
-- that keeps the lane from being claimed in.
--
-- Parameters:
--   q            the queue
--   g            the group
--   p_lane       the lane; null = by each message's key
--   p_messages   in order; attempts as they shall be kept; due_at null = p_due_at, or none behind others
--   p_due_at     when heads of lines may be delivered
--   p_holder     the claim under which they are worked at; null = none
--   p_came_late  whether they came out of `later`
--   p_ahead      whether they come out of a claim in the lane: 10,000 messages at most
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_internal.park(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_messages weir_internal.later_row[],
    p_due_at timestamptz, p_holder bigint, p_came_late boolean, p_ahead boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'insert into weir_internal.q%1$s_parked
         select $1, n.line, case when a.ahead then f.no - 10001 + m.ordinality
                                 else nextval(''weir_internal.q%1$s_claim_ids'') end, l.lane, m.id,
             m.attempts, m.key, m.payload, m.headers, m.enqueued_at,
             coalesce(m.due_at, case when (f.no is null or a.ahead)
                                         and row_number() over (partition by n.line order by m.ordinality) = 1
                                     then $4 end),
             $5, $6, weir_internal.clock(), m.reason
         from unnest($3) with ordinality m
         cross join lateral (select coalesce($2, weir_internal.lane_of(m.key, $7), 0) as lane) l
         cross join lateral (select weir_internal.line_of(m.key, l.lane) as line) n
         left join lateral (
             select p.no, p.came_late from weir_internal.q%1$s_parked p
             where p.group_id = $1 and p.line = n.line order by p.no limit 1) f on true
         cross join lateral (select $8 and f.came_late as ahead) a
         order by m.ordinality', q.no)
    using g.id, p_lane, p_messages, p_due_at, p_holder, p_came_late, q.lanes / q.priorities, p_ahead;
end
$$;

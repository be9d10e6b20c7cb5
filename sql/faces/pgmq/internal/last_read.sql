-- pgmq._last_read(q, g, p_id, p_claim)
-- When a message was read before a claim was made, and when it could be read again.
--
-- Parameters:
--   q, g     queue and group
--   p_id     the message
--   p_claim  the claim that holds it now
-- Returns: last_read_at, null when never; vt, null when it could be read since it was sent.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and `delayed`.
create or replace function pgmq._last_read(
    q weir_internal.queues, g weir_internal.groups, p_id bigint, p_claim bigint,
    out last_read_at timestamptz, out vt timestamptz)
language plpgsql stable
as $$
begin
    select e.claimed_at, e.deadline into last_read_at, vt
    from (
        select false as moved, c.claimed_at,
            greatest(c.deadline, (select max(x.deadline) from weir_log_pgmq.claims_2 x
                                  where x.claim = c.claim and x.kind = 'e')) as deadline
        from pgmq._span_keys(g.no, p_id) k
        cross join lateral (
            select * from weir_log_pgmq.claims_2 t
            where pgmq._span_key(t.group_no, t.ids) between k.first and k.last
                and t.group_no is not distinct from g.no and t.ids @> p_id
                and t.kind = 'c' and t.claim < p_claim and t.deadline > '-infinity'
            offset 0) c
        union all
        select true, pgmq._read_time(d.reason), d.due_at -- which was later than the read that it tells of
        from weir_log_pgmq.delayed d where d.queue_no = q.no and d.id = p_id) e
    order by e.claimed_at desc nulls last, e.moved desc limit 1;
end
$$;

-- weir_internal.claim_messages(q, c, p_ids)
-- Reads messages of a claim from the log again.
--
-- Parameters:
--   q      the queue
--   c      the claim
--   p_ids  which of its messages
-- Returns: one row a message, in the order of delivery; attempts counts the deliveries before this claim's first.
-- Raises: none
-- Locks: ACCESS SHARE on one segment.
create or replace function weir_internal.claim_messages(
    q weir_internal.queues, c weir_internal.claim, p_ids int8multirange)
returns table (
    id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s weir_internal.claim_range := coalesce(c.src,
        row(c.prev, c.cur, c.seg, c.from_txid, c.from_pos, c.txid, c.pos)::weir_internal.claim_range);
begin
    return query execute format(
        'with records as (
             (select * from weir_internal.q%1$s_log_%2$s l
              where l.lane = $1 and (l.txid, l.id) > ($2, $3) and (l.txid, l.id) < ($4, $5)
              order by l.txid, l.id)
             union all
             (select * from weir_internal.q%1$s_log_%2$s l
              where l.lane = $1 and (l.txid, l.id) >= ($4, $5) and (l.group_id is null or l.group_id = $6)
              order by l.txid, l.id limit 1)
         )
         select m.id, u.key, u.payload, u.headers, coalesce(u.enqueued_at, r.enqueued_at), coalesce(u.attempts, 0)::int
         from records r
         cross join lateral unnest(r.ids, r.keys, r.payloads, r.headers, r.enqueued_times, r.attempts)
             with ordinality as u (id, key, payload, headers, enqueued_at, attempts, i)
         cross join lateral (select coalesce(u.id, r.id - r.n + u.i) as id) m
         where m.id <@ $7 and (r.group_id is null or r.group_id = $6)
             and ($8 is null or pg_visible_in_snapshot(r.txid, $9) and not pg_visible_in_snapshot(r.txid, $8))
         order by r.txid, m.id', q.no, s.seg % 3)
    using (case when s.prev is null then q.lanes else c.slot % (q.lanes + 1) end)::smallint,
        s.from_txid, s.from_pos, s.txid, s.pos,
        (select g.id from weir_internal.groups g
         where g.queue_no = q.no and g.no = c.slot / (q.lanes + 1)),
        p_ids, s.prev, s.cur;
end
$$;

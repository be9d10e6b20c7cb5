-- claim_messages
-- Template of weir_internal.<q>_claim_messages: reads messages of a claim from the log again.
--
-- Parameters:
--   c      the claim
--   p_ids  which of its messages
-- Returns: one row a message, in the order of delivery; attempts counts the deliveries before this claim's first.
-- Raises: none
-- Locks: ACCESS SHARE on one segment.
insert into weir_internal.templates (name, body) values ('claim_messages', $template$
create or replace function weir_internal.{q}_claim_messages(c weir_internal.claim, p_ids int8multirange)
returns table (id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
    s weir_internal.claim_range := coalesce(c.src,
        row(c.prev, c.cur, c.seg, c.from_txid, c.from_pos, c.txid, c.pos)::weir_internal.claim_range);
    v_lane smallint := case when s.prev is null then {lanes} else c.slot % ({lanes} + 1) end;
    v_group int := (
        select g.id from weir_internal.groups g where g.queue_no = {no} and g.no = c.slot / ({lanes} + 1));
begin
    --{ 3
    {if} s.seg % 3 = {k} then
        return query
        with records as (
            (select * from weir_internal.{q}_log_{k} l
             where l.lane = v_lane and (l.txid, l.id) > (s.from_txid, s.from_pos) and (l.txid, l.id) < (s.txid, s.pos)
             order by l.txid, l.id)
            union all
            (select * from weir_internal.{q}_log_{k} l
             where l.lane = v_lane and (l.txid, l.id) >= (s.txid, s.pos)
                 and (l.group_id is null or l.group_id = v_group)
             order by l.txid, l.id limit 1)
        )
        select m.id, u.key, u.payload, u.headers, coalesce(u.enqueued_at, r.enqueued_at), coalesce(u.attempts, 0)::int
        from records r
        cross join lateral unnest(r.ids, r.keys, r.payloads, r.headers, r.enqueued_times, r.attempts)
            with ordinality as u (id, key, payload, headers, enqueued_at, attempts, i)
        cross join lateral (select coalesce(u.id, r.id - r.n + u.i) as id) m
        where m.id <@ p_ids and (r.group_id is null or r.group_id = v_group)
            and (s.prev is null
                or pg_visible_in_snapshot(r.txid, s.cur) and not pg_visible_in_snapshot(r.txid, s.prev))
        order by r.txid, m.id;
    --}
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

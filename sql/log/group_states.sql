-- weir_log.group_states(q, g, p_base, p_found, p_ids, p_now)
-- How a group stands to messages that it has still before it. It is stable: a message that is on its way from one place
-- to another is seen in one of them.
--
-- Parameters:
--   q        the queue
--   g        a group of it, its beginning moved on by the ttl
--   p_base   the claim log's base
--   p_found  where the messages stand in the log
--   p_ids    the messages
--   p_now    the time
-- Returns: what is known, perhaps several rows a message; none of one that the group is done with. Under a lease that
-- has ended, or due and not claimed yet, it is waiting.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.group_states(
    q weir_internal.queues, g weir_internal.groups, p_base weir_internal.claim, p_found weir_internal.found_record[],
    p_ids bigint[], p_now timestamptz)
returns setof weir_internal.group_state
language plpgsql stable
as $$
declare
    v_aside weir_internal.claim;
begin
    return query
    select i, case when c.deadline > p_now then 'claimed' else 'waiting' end, c.claim,
        c.attempt + coalesce(f.attempts, 0), c.claimed_at, nullif(c.deadline, '-infinity'), c.pid, null::bigint, null
    from weir_log.open_claims(
        g, (select range_agg(int8range(i, i + 1)) from unnest(p_ids) i where i < 9223372036854775807), 0, null) c
    cross join unnest(p_ids) i
    left join lateral (
        select u.attempts from unnest(p_found) u
        where u.id = i and u.seg = coalesce((c.src).seg, c.seg) and u.lane = coalesce((c.src).lane, c.lane)
            and (u.lane >= 0 or u.txid = (c.src).to_txid) limit 1) f on true
    where i <@ c.ids;
    return query
    select p.id, 'parked', p.holder, nullif(p.attempts, 0)::int, p.parked_at, p.due_at, null::int,
        nullif((select h.id from weir_log.parked h
                where h.group_no = g.no and h.key_queue = p.key_queue order by h.no limit 1), p.id), p.reason
    from weir_log.parked p where p.group_no = g.no and p.id = any(p_ids);
    return query
    select i, 'parked', null::bigint, null::int, null::timestamptz, null::timestamptz, null::int, null::bigint, null
    from unnest(weir_log.in_key_queues(g, p_ids)) i;
    select * into v_aside from weir_log.claims_2 t
    where t.kind = 'c' and t.group_no = g.no and t.lane = -1 and t.stripe = 1 order by t.id desc limit 1;
    if v_aside.kind is null then
        v_aside := case when pg_visible_in_snapshot(g.start_by, p_base.cur) then p_base else g.start end;
    end if;
    return query
    select l.id, case when l.due_at > p_now then 'delayed' else 'waiting' end, null::bigint, nullif(l.attempts, 0)::int,
        null::timestamptz, l.due_at, null::int, null::bigint, l.reason
    from weir_log.delayed l
    where l.id = any(p_ids) and l.queue_no = q.no and weir_log.is_for(g, l)
        and not ((l.due_at, l.id) <= (v_aside.due_at, v_aside.due_id) and pg_visible_in_snapshot(l.txid, v_aside.cur));
    return query
    select f.id, 'waiting', null::bigint, null::int, null::timestamptz, null::timestamptz, null::int, null::bigint, null
    from unnest(p_found) f where f.lane >= 0 and weir_log.is_unclaimed(g, p_base, f);
end
$$;

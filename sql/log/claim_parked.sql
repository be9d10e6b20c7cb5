-- weir_log.claim_parked(q, g, p_claim, p_want, p_lease, p_now)
-- Claims what is due of an ordered group's key queues. A key queue whose head was delivered before gives that alone;
-- one whose head was not goes on with what follows it, so that a key that has left its trouble behind catches up. What
-- is wanted is shared out among the key queues, one message at least for each.
-- has_parked: whether something is due there.
--
-- Parameters:
--   q, g     queue and group
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    the time
-- Returns: one record, or none.
-- Raises: WR016
-- Locks: the advisory lock of lane -1, of the lanes of notes and of what came out of no claim, tried; the rows claimed.
create or replace function weir_log.claim_parked(
    q weir_internal.queues, g weir_internal.groups, p_claim bigint, p_want int, p_lease interval, p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    o weir.message_record;
    h record;
    v_each int; -- messages of a key queue at most
    v_start timestamptz;
    v_messages weir_internal.delayed_row[];
    v_held int;
    v_left int;
begin
    if p_want <= 0 or not weir_log.has_parked(g, p_now)
        or not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, -1, 1)) then
        return '{}';
    end if;
    g := weir_log.read_again(g);
    if g.no is null then
        return '{}';
    end if;
    select * into q from weir_internal.queues where no = q.no; -- who parked behind a head knew of all lanes there are
    perform weir_log.see_to_notes(q, g, p_now);
    h := weir_log.due_heads(q, g, p_want, p_now);
    if h.key_queues = '{}' then
        return '{}';
    end if;
    v_each := greatest(1, least(p_want, 268435456 / q.message_bytes_max) / cardinality(h.key_queues));
    v_start := weir_internal.ttl_start(g);
    v_messages := array(
        select row(null, null, null, null, m.id, m.attempts, m.key, m.headers, m.payload, m.body,
                   m.enqueued_at, m.reason)
            ::weir_internal.delayed_row
        from unnest(h.key_queues, h.alone) l (key_queue, alone)
        cross join lateral (
            select w.*, row_number() over (order by w.no) as place,
                bool_and(w.attempts = 0 and coalesce(w.due_at, p_now) <= p_now and w.holder is null
                    and not w.was_delayed and w.enqueued_at >= v_start) over (order by w.no) as goes_on
            from (select * from weir_log.parked p
                  where p.group_no = g.no and p.key_queue = l.key_queue
                  order by p.no limit case when l.alone then 1 else v_each end) w) m
        where m.place = 1 or m.goes_on);
    o := weir_log.claim_record(q, g, weir_log.cursor(g, -1, 1), p_claim, v_messages, p_lease);
    for i in 1 .. 100 loop -- a row whose due time is being changed is waited for, and passed over: it has another place
        update weir_log.parked p set holder = o.claim_id
        where p.ctid = any(array(
            select w.ctid from unnest(o.ids) u (id)
            cross join lateral (
                select t.ctid, t.holder from weir_log.parked t
                where t.group_no = g.no and t.id = u.id order by t.id limit 1) w
            where w.holder is null));
        get diagnostics v_held = row_count;
        v_left := coalesce(v_left, o.n) - v_held;
        exit when v_left <= 0;
    end loop;
    perform weir_log.mark_parked(o.claim_id);
    return array[o];
end
$$;
create or replace function weir_log.has_parked(g weir_internal.groups, p_now timestamptz)
returns boolean
language plpgsql
as $$
begin
    return exists (
            select from weir_log.parked p where p.group_no = g.no and p.due_at <= p_now and p.holder is null)
        or exists (
            select from weir_log.parked p where p.group_no = -g.no and p.due_at <= p_now and p.holder is null);
end
$$;

-- weir_log.take_unfinished(q, g, p)
-- Drops what a group holds for itself (retries, parked messages, claims) as far as the log will give it again, or it
-- lies before the group's new place. What stays of the retries and the parked messages stays where it is. The caller
-- holds the locks of the group's lanes and claims, and the limit lock of a limited one; it ends the claims.
--
-- Parameters:
--   q, g  queue and group
--   p     its new place
-- Returns: the messages under claims, or in the key queues of a group with limits, that are to be delivered again and
-- have no other place.
-- Raises: WR016
-- Locks: rows of `delayed` and of `parked`.
create or replace function weir_log.take_unfinished(
    q weir_internal.queues, g weir_internal.groups, p weir_internal.place)
returns weir_internal.delayed_row[]
language plpgsql
as $$
declare
    v_at_end boolean := p.cur is not null;
    v_log int8multirange := case when p.cur is not null then '{}' else weir_log.replayed_ids(q, p) end;
    v_queued weir_internal.delayed_row[];
begin
    delete from weir_log.delayed t
    where t.queue_no = q.no and t.group_no = g.no
        and (v_at_end or t.id <@ v_log or t.enqueued_at < p.since or t.id < p.id);
    if g.keyed then
        v_queued := array(
            select m from weir_log.key_queue_messages(g) m
            where not v_at_end and not m.id <@ v_log and (m.enqueued_at < p.since) is not true
                and (m.id < p.id) is not true);
        perform weir_log.clear_key_queues(g);
    end if;
    if g.ordered then -- a claim's messages are in the log or among the parked ones
        delete from weir_log.parked t
        where t.group_no = g.no and (v_at_end or t.id <@ v_log or t.enqueued_at < p.since or t.id < p.id);
        update weir_log.parked h set holder = null, due_at = coalesce(h.due_at, weir_internal.clock())
        where h.group_no = g.no and (h.holder is not null or h.due_at is null and not exists (
            select from weir_log.parked f where f.group_no = g.no and f.key_queue = h.key_queue and f.no < h.no));
        return null;
    end if;
    return v_queued || array(
        select row(null, q.no, g.no, null, t.id, t.attempts + u.attempt, t.key, t.headers, t.payload, t.body,
                   t.enqueued_at, null)::weir_internal.delayed_row
        from weir_log.group_cursors(q, g) c
        cross join lateral weir_log.unfinished(g.no, c.lane, c.stripe, c.low, 'infinity', null) u
        cross join lateral weir_log.claim_messages(u, q.no, u.ids - v_log) t
        where not v_at_end and (t.enqueued_at < p.since) is not true and (t.id < p.id) is not true
        order by t.id);
end
$$;

-- weir_log.adopt_claims(q, g), weir_log.adopt_messages(q, g, p_lane, p_messages)
-- adopt_claims: ends the unfinished claims of a group, in a log that came in a dump. The delivery counts; a message
-- that had its last one gets another, because it was the restore that ended it. What is not in the log was finished
-- while the dump was taken, or lost with an unlogged log. What waits in key queues of a fair group is set aside anew,
-- behind what was claimed. adopt_messages: puts messages that one group has still to be delivered where it finds them.
--
-- Parameters:
--   q, g        queue and group
--   p_lane      the lane they were sent into
--   p_messages  in order; attempts counts the deliveries so far
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `delayed`, `parked`, `key_queues` and `key_turns`.
create or replace function weir_log.adopt_claims(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
as $$
declare
    k record;
    c weir_internal.claim;
    u weir_internal.claim;
    v_messages weir_internal.delayed_row[];
    v_all weir_internal.delayed_row[] := '{}';
begin
    for k in
        select distinct t.lane, t.stripe from weir_log.claims_2 t
        where t.kind = 'c' and t.group_no = g.no order by t.lane, t.stripe
    loop
        c := weir_log.cursor(g, k.lane, k.stripe);
        for u in select * from weir_log.unfinished(g.no, k.lane, k.stripe, c.low, 'infinity', null) loop
            v_messages := array(
                select row(null, q.no, g.no, null, m.id, m.attempts + u.attempt, m.key, m.headers, m.payload,
                           m.body, m.enqueued_at, 'it came here in a dump')::weir_internal.delayed_row
                from weir_log.read_source(
                    coalesce(u.src, row(u.seg, u.lane, u.from_txid, u.from_pos, u.txid, u.pos)::weir_internal.source),
                    q.no, g.no, u.ids) m);
            if g.ordered and not g.keyed then
                u.ids := coalesce((select range_agg(int8range(m.id, m.id + 1)) from unnest(v_messages) m), '{}');
                perform weir_log.queue_again(q, g, u, v_messages, exists (
                    select from weir_log.claims_2 p where p.claim = u.claim and p.kind = 'p'));
            else
                v_all := v_all || v_messages;
            end if;
        end loop;
    end loop;
    if g.keyed then
        v_all := v_all || array(
            select row(null, q.no, g.no, null, m.id, m.attempts, m.key, m.headers, m.payload, m.body,
                       m.enqueued_at, null)
                ::weir_internal.delayed_row
            from weir_log.in_key_queues m where m.group_no = g.no order by m.no);
        perform weir_log.clear_key_queues(g);
        perform weir_log.set_aside_again(q, g, v_all);
    elsif g.ordered then
        update weir_log.parked h set holder = null, due_at = coalesce(h.due_at, weir_internal.clock())
        where h.group_no = g.no and (h.holder is not null or h.due_at is null and not exists (
            select from weir_log.parked f where f.group_no = g.no and f.key_queue = h.key_queue and f.no < h.no));
    else
        perform weir_log.retry(q, g, v_all, '0');
    end if;
end
$$;
create or replace function weir_log.adopt_messages(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_messages weir_internal.delayed_row[])
returns void
language plpgsql
as $$
begin
    if g.keyed then
        perform weir_log.set_aside_again(q, g, p_messages);
    elsif g.ordered then
        for i in 1 .. coalesce(cardinality(p_messages), 0) by 10000 loop
            perform weir_log.park(q, g, p_lane, p_messages[i:i + 9999], null, null, false);
        end loop;
    else
        perform weir_log.retry(q, g, p_messages, '0');
    end if;
end
$$;

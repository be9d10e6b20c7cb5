-- weir_log.set_aside(q, g, o), weir_log.set_aside_again(q, g, p_messages)
-- Sets messages aside. Every message that a group reads which shares its deliveries out among keys (groups.keyed) is
-- appended to the queue of its key, in `key_queues`. A key queue that has messages has a newest row in `key_turns` that
-- says how it stands. Nobody but the transaction that holds the group's lock appends to either table, so what it reads
-- there is right until it commits.
--
-- Parameters:
--   q, g        queue and group
--   o           messages as they would be delivered for the first time
--   p_messages  messages that were delivered before, or delayed; attempts counts the deliveries so far
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `key_queues` and `key_turns`.
create or replace function weir_log.set_aside(
    q weir_internal.queues, g weir_internal.groups, o weir.message_record)
returns void
language plpgsql
as $$
begin
    perform weir_log.set_aside_again(q, g, array(
        select row(null, q.no, g.no, null, coalesce(u.id, o.first_id + u.i - 1), coalesce(u.attempt, o.attempt) - 1,
                   u.key, u.headers, u.payload, u.body, coalesce(u.enqueued_at, o.enqueued_at), null)
                   ::weir_internal.delayed_row
        from unnest(o.ids, o.attempts, o.keys, o.headers, o.payloads, o.bodies, o.enqueued_times)
            with ordinality u (id, attempt, key, headers, payload, body, enqueued_at, i)));
end
$$;
create or replace function weir_log.set_aside_again(
    q weir_internal.queues, g weir_internal.groups, p_messages weir_internal.delayed_row[])
returns void
language plpgsql
as $$
begin
    with placed as materialized (
        insert into weir_log.key_queues
            (queue_no, group_no, key_queue, no, id, attempts, key, headers, payload, body, enqueued_at)
        select q.no, g.no, coalesce('k' || m.key, 'l'), nextval('weir_internal.claim_numbers'), m.id, m.attempts, m.key,
            m.headers, m.payload, m.body, m.enqueued_at
        from unnest(p_messages) m
        returning key_queue, no)
    insert into weir_log.key_turns (group_no, key_queue, no, state, pos)
    select g.no, p.key_queue, nextval('weir_internal.claim_numbers'), 'w', p.first - 1
    from (select key_queue, min(no) as first from placed group by key_queue) p
    left join lateral (
        select t.state from weir_log.key_turns t
        where t.group_no = g.no and t.key_queue = p.key_queue order by t.no desc limit 1) n on true
    where coalesce(n.state, 'e') = 'e'
    order by p.first;
end
$$;

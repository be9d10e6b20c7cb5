-- weir_log.peek(p_queue, p_group, p_max)
-- Shows messages that wait for a group; see weir.peek.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_max    1 to 10,000 messages at most
-- Returns: messages by id.
-- Raises: WR001, WR003, WR006, WR012, WR019
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_log.peek(p_queue text, p_group text, p_max int)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups := weir_internal.apply_ttl(weir_internal.find_group(q, p_group));
begin
    perform weir_internal.check_isolation('peek');
    if p_max is null or p_max not between 1 and 10000 then
        raise exception 'max % is out of range', coalesce(p_max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 10,000 messages.';
    end if;
    return array(
    select row(null, 1, m.id, null, coalesce(u.attempts, 0), null, case when u.key is not null then array[u.key] end,
               array[u.payload], case when u.headers is not null then array[u.headers] end,
               coalesce(u.enqueued_at, w.enqueued_at), null, case when u.body is not null then array[u.body] end)
        ::weir.message_record
    from weir_log.group_cursors(q, g) c
    cross join lateral weir_log.waiting_records(q, g, c, p_max) w
    cross join lateral unnest(w.ids, w.keys, w.payloads, w.headers, w.enqueued_times, w.attempts, w.bodies)
        with ordinality as u (id, key, payload, headers, enqueued_at, attempts, body, i)
    cross join lateral (select coalesce(u.id, w.id - w.n + u.i) as id) m
    where m.id > w.after
    order by m.id limit p_max);
end
$$;

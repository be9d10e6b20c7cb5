-- weir_internal.peek(queue_name, group_name, max)
-- Shows messages that wait for a group, without claiming them: what is due of the delayed ones and retries is not
-- shown.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 messages at most
-- Returns: messages, the oldest of each lane first; claim_id is null and attempt counts the deliveries so far.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: none
create or replace function weir_internal.peek(queue_name text, group_name text default 'default', max int default 10)
returns setof weir.message
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_sort = off
set enable_seqscan = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.apply_ttl(weir_internal.find_group(q, group_name));
begin
    perform weir_internal.check_isolation('peek');
    if max is null or max not between 1 and 10000 then
        raise exception 'max % is out of range', coalesce(max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 10,000 messages.';
    end if;
    return query execute format(
        'select m.id, null::bigint, coalesce(u.attempts, 0)::int, u.key, u.payload, u.headers,
             coalesce(u.enqueued_at, w.enqueued_at)
         from generate_series(0, $1 - 1) l
         cross join lateral (select * from weir_internal.waiting_records(%s, $2, l) limit $3) w
         cross join lateral unnest(w.ids, w.keys, w.payloads, w.headers, w.enqueued_times, w.attempts)
             with ordinality as u (id, key, payload, headers, enqueued_at, attempts, i)
         cross join lateral (select coalesce(u.id, w.id - w.n + u.i) as id) m
         where m.id > w.after
         order by m.id limit $3', q.no)
    using q.lanes, g, max;
end
$$;

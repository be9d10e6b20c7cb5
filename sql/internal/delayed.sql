-- weir_internal.delayed(queue_name, group_name, max, after)
-- Lists a group's messages that are not due: see weir.delayed.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only what comes after this message
-- Returns: one row a message, the next due first.
-- Raises: WR001, WR003, WR006, WR012
-- Locks: ACCESS SHARE on `later`.
create or replace function weir_internal.delayed(queue_name text, group_name text, max int, after bigint)
returns setof weir.delayed_message
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.apply_ttl(weir_internal.find_group(q, group_name));
    v_after timestamptz; -- when that message is due
begin
    perform weir_internal.check_isolation('delayed');
    if max is null or max not between 1 and 1000 or after is null then
        raise exception 'max % or after % is out of range', coalesce(max::text, 'null'), coalesce(after::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 messages, after one (0 = from the next due).';
    end if;
    execute format(
        'select max(due_at) from (
             select l.due_at from weir_internal.q%s_later l
             where l.id = $1 and (l.group_id is null or l.group_id = $2) and l.due_at > weir_internal.clock()
             offset 0) l -- found by the id, whatever max would make of it', q.no)
    into v_after using after, g.id;
    return query execute format(
        'select l.id, l.due_at, l.attempts::int, l.key, l.payload, l.headers, l.enqueued_at, l.reason
         from (select * from weir_internal.q%s_later w
               where (w.due_at, w.id) > (coalesce($3, weir_internal.clock()), $4)
               order by w.due_at, w.id limit 10000) l
         where (l.group_id is null or l.group_id = $1.id)
             and l.enqueued_at >= case when l.group_id is null then $1.since else weir_internal.ttl_start($1) end
             and ($1.purged is null or not pg_visible_in_snapshot(l.txid, $1.purged))
         limit $2', q.no)
    using g, max, v_after, case when v_after is null then 9223372036854775807 else after end;
end
$$;

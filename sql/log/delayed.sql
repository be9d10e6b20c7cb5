-- weir_log.delayed(p_queue, p_group, p_max, p_after)
-- Lists a group's messages that are not due: see weir.delayed. It is stable, so that it reads in one snapshot.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_max    1 to 1,000 rows at most
--   p_after  only what comes after this message
-- Returns: one row a message, the next due first.
-- Raises: WR001, WR003, WR006, WR019
-- Locks: ACCESS SHARE on `delayed`.
create or replace function weir_log.delayed(p_queue text, p_group text, p_max int, p_after bigint)
returns setof weir.delayed_message
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups := weir_internal.apply_ttl(weir_internal.find_group(q, p_group));
    v_after timestamptz; -- when that message is due
begin
    if p_max is null or p_max not between 1 and 1000 or p_after is null then
        raise exception 'max % or after % is out of range',
            coalesce(p_max::text, 'null'), coalesce(p_after::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 messages, after one (0 = from the next due).';
    end if;
    select max(d.due_at) into v_after
    from (select l.due_at from weir_log.delayed l
          where l.id = p_after and l.queue_no = q.no and (l.group_no is null or l.group_no = g.no)
              and l.due_at > weir_internal.clock()
          offset 0) d; -- found by the id, whatever max would make of it
    return query
    select l.id, l.due_at, l.attempts::int, l.key, j.payload, l.headers, l.enqueued_at, l.reason,
        coalesce(l.body, case when j.payload is null then convert_to(l.payload, 'UTF8') end), l.payload
    from (select * from weir_log.delayed w
          where w.queue_no = q.no and (w.due_at, w.id) > (
              coalesce(v_after, weir_internal.clock()),
              case when v_after is null then 9223372036854775807 else p_after end)
          order by w.due_at, w.id limit 10000) l
    cross join lateral (select weir_internal.jsonb_of(l.payload) as payload) j
    where weir_log.is_for(g, l)
    limit p_max;
end
$$;

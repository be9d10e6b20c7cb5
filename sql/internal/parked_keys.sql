-- weir_internal.parked_keys(queue_name, group_name, max, after, after_lane)
-- Lists keys of which messages wait in a line: see weir.parked_keys.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 1,000 rows at most
--   after       only keys above this; null: from the first
--   after_lane  only lines of messages without a key, of lanes behind this; null: all
-- Returns: one row a line, by key.
-- Raises: WR001, WR003, WR006, WR012, WR016
-- Locks: ACCESS SHARE on `parked`, `lines` and `turns`, and on the claim log.
create or replace function weir_internal.parked_keys(
    queue_name text, group_name text, max int, after text, after_lane int)
returns setof weir.parked_key
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.find_group(q, group_name);
    v_after text := coalesce(weir_internal.line_of(after, after_lane), ''); -- the line where the page before ended
    v_held int8multirange; -- what is claimed of the heads of lines
begin
    perform weir_internal.check_isolation('parked_keys');
    if max is null or max not between 1 and 1000 then
        raise exception 'max % is out of range', coalesce(max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 keys.';
    end if;
    if after is not null and after_lane is not null then
        raise exception 'after key "%" and lane % at once', after, after_lane
            using errcode = 'WR006', hint = 'Give what the page before ended with: after or after_lane.';
    end if;
    execute format(
        'select coalesce(range_agg(m), ''{}'') from weir_internal.q%1$s_cursor($1) k
         cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
         cross join lateral unnest(u.ids) m where u.deadline > weir_internal.clock()', q.no)
    into v_held using (g.no * (q.lanes + 1) + q.lanes)::smallint;
    return query execute format(
        'with recursive lines (line) as (
             (select p.line from weir_internal.q%1$s_parked p
              where p.group_id = $1 and p.line > $4 order by p.line limit 1)
             union all
             select (select p.line from weir_internal.q%1$s_parked p
                     where p.group_id = $1 and p.line > l.line order by p.line limit 1)
             from lines l where l.line is not null)
         select h.key, case when h.key is null then h.lane::int end, n.messages::int, h.id, h.attempts::int,
             h.enqueued_at, h.parked_at, h.due_at,
             case when (h.holder & 16383) %% $5 < $5 - 1 or h.id <@ $2 then ''claim''
                  when h.due_at > weir_internal.clock() then ''time'' else ''consumer'' end,
             h.reason
         from (select line from lines where line is not null limit $3) l
         cross join lateral (select * from weir_internal.q%1$s_parked p
                             where p.group_id = $1 and p.line = l.line order by p.no limit 1) h
         cross join lateral (
             select count(*) as messages from (
                 select from weir_internal.q%1$s_parked p where p.group_id = $1 and p.line = l.line limit 1000) c) n',
        q.no)
    using g.id, v_held, max, v_after, q.lanes + 1;
    if g.keyed then
        return query execute format(
            'with recursive lines (line) as (
                 (select t.line from weir_internal.q%1$s_turns t
                  where t.group_id = $1 and t.line > $3 order by t.line limit 1)
                 union all
                 select (select t.line from weir_internal.q%1$s_turns t
                         where t.group_id = $1 and t.line > l.line order by t.line limit 1)
                 from lines l where l.line is not null)
             select h.key, null::int, n.messages::int, h.id, h.attempts::int, h.enqueued_at, null::timestamptz,
                 null::timestamptz, case s.what when 1 then ''turn'' else ''key_concurrency'' end, null
             from lines l
             cross join lateral (select t.what, t.pos from weir_internal.q%1$s_turns t
                                 where t.group_id = $1 and t.line = l.line order by t.no desc limit 1) s
             cross join lateral (select * from weir_internal.q%1$s_lines m
                                 where m.group_id = $1 and m.line = l.line and m.no > s.pos order by m.no limit 1) h
             cross join lateral (
                 select count(*) as messages from (
                     select from weir_internal.q%1$s_lines m
                     where m.group_id = $1 and m.line = l.line and m.no > s.pos limit 1000) c) n
             limit $2', q.no)
        using g.id, max, v_after;
    end if;
end
$$;

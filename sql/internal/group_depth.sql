-- weir_internal.group_depth(q, g)
-- Counts the messages of a group by what becomes of them.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: see weir.stats.
-- Raises: none
-- Locks: none
create or replace function weir_internal.group_depth(
    q weir_internal.queues, g weir_internal.groups,
    out waiting bigint, out claimed bigint, out delayed bigint, out oldest_age interval)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_due bigint;
begin
    select coalesce(sum(case when w.after = 0 then w.n
                             when w.ids is null then least(w.n, w.id - w.after)
                             else (select count(*) from unnest(w.ids) i where i > w.after) end), 0),
        weir_internal.clock() - min(w.enqueued_at)
    into waiting, oldest_age
    from generate_series(0, q.lanes - 1) l
    cross join lateral weir_internal.waiting_records(q.no, g, l) w;
    execute format(
        'select coalesce(sum(u.n), 0)
         from generate_series(0, $1) l
         cross join lateral weir_internal.q%1$s_cursor(($2 * ($1 + 1) + l)::smallint) k
         cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u', q.no)
    into claimed using q.lanes, g.no;
    execute format(
        'select count(*) filter (where l.due_at > $3), count(*) filter (where l.due_at <= $3)
         from weir_internal.q%1$s_cursor(($2 * ($1 + 1) + $1)::smallint) k
         cross join weir_internal.q%1$s_later l
         where (l.group_id is null or l.group_id = $4) and l.enqueued_at >= $5
             and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
             and ($6 is null or not pg_visible_in_snapshot(l.txid, $6))', q.no)
    into delayed, v_due using q.lanes, g.no, weir_internal.clock(), g.id, g.since, g.purged;
    waiting := waiting + v_due;
end
$$;

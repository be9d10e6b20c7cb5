-- weir_internal.adopt_later(q)
-- Copies what is needed of `later`, in a queue that came in a dump, to <q>_new_later: a message that no group has
-- claimed as it is, one that some have claimed once for each of the others.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on <q>_new_later.
create or replace function weir_internal.adopt_later(q weir_internal.queues)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'with readers as materialized (
             select g.id, g.since, g.purged, c.cur, c.due_at, c.due_id from weir_internal.groups g
             left join lateral (select * from weir_internal.q%1$s_claims_2
                                where slot = g.no * ($2 + 1) + $2 and what = 0 order by id desc limit 1) c on true
             where g.queue_no = $1)
         insert into weir_internal.q%1$s_new_later
         select ''1'', l.due_at, l.id, f.id, l.attempts, l.key, l.payload, l.headers, l.enqueued_at, l.reason
         from weir_internal.q%1$s_later l
         cross join lateral (
             select array_agg(g.id) filter (
                     where (g.since <= l.enqueued_at or l.group_id is not null)
                         and (g.purged is null or not pg_visible_in_snapshot(l.txid, g.purged))
                         and (g.cur is null or not pg_visible_in_snapshot(l.txid, g.cur)
                              or (l.due_at, l.id) > (g.due_at, g.due_id))) as ids,
                 count(*) as all
             from readers g where l.group_id is null or l.group_id = g.id) w
         cross join lateral unnest(case when l.group_id is null and cardinality(w.ids) = w.all then array[null::int]
                                        else w.ids end) f (id)', q.no)
    using q.no, q.lanes;
end
$$;

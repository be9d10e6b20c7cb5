-- weir_log.adopt_delayed(q)
-- Reduces `delayed`, in a log that came in a dump, to what is needed: a message that no group has claimed stays as it
-- is; one that some have claimed stays once for each of the others.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `delayed`.
create or replace function weir_log.adopt_delayed(q weir_internal.queues)
returns void
language plpgsql
as $$
declare
    v_groups weir_internal.groups[];
    v_cursors weir_internal.claim[];
begin
    if not exists (select from weir_log.delayed d where d.queue_no = q.no) then
        return;
    end if;
    select array_agg(g), array_agg(weir_log.cursor(g, -1, 1)) into v_groups, v_cursors
    from weir_internal.groups g where g.queue_no = q.no;
    with wanted as materialized (
        select d.ctid as row, d.group_no is null and cardinality(w.groups) < cardinality(v_groups) as split, w.groups
        from weir_log.delayed d
        cross join lateral (
            select array(
                select v_groups[i].no from generate_subscripts(v_groups, 1) i
                where weir_log.is_for(v_groups[i], d)
                    and not ((d.due_at, d.id) <= (v_cursors[i].due_at, v_cursors[i].due_id)
                        and pg_visible_in_snapshot(d.txid, v_cursors[i].cur))) as groups) w
        where d.queue_no = q.no),
    gone as (
        delete from weir_log.delayed
        where ctid = any(array(select w.row from wanted w where w.split or w.groups = '{}')))
    insert into weir_log.delayed
    select d.txid, d.queue_no, g, d.due_at, d.id, d.attempts, d.key, d.headers, d.payload, d.body,
        d.enqueued_at, d.reason
    from wanted w
    cross join lateral (select * from weir_log.delayed t where t.ctid = w.row) d
    cross join unnest(w.groups) g
    where w.split;
end
$$;

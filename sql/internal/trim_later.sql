-- weir_internal.trim_later(q)
-- Gives back the space of what every group concerned has claimed out of `later`: by TRUNCATE when nothing else is in
-- it, else by deleting some of it.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on `later`, tried for 20 ms; ROW EXCLUSIVE on it when rows are deleted.
create or replace function weir_internal.trim_later(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_table text := format('weir_internal.q%s_later', q.no);
    v_needed text := format(
        'exists (select from weir_internal.groups g
                 cross join lateral weir_internal.q%1$s_cursor((g.no * (%2$s + 1) + %2$s)::smallint) k
                 where g.queue_no = %1$s and (l.group_id is null or l.group_id = g.id)
                     and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
                     and (g.purged is null or not pg_visible_in_snapshot(l.txid, g.purged)))',
        q.no, q.lanes);
    v_left boolean;
    v_deleted int;
    v_purged xid8;
begin
    if pg_relation_size(v_table) = 0 then
        return 0;
    end if;
    execute format('select exists (select from %s l where %s)', v_table, v_needed) into v_left;
    if not v_left and weir_internal.lock_or_skip(v_table, 'access exclusive') then
        execute format('select exists (select from %s l where %s)', v_table, v_needed) into v_left;
        if not v_left then
            execute format('truncate table %s', v_table);
            return 1;
        end if;
    end if;
    if pg_relation_size(v_table) < 8388608 then
        return 0;
    end if;
    select pg_snapshot_xmin(g.purged) into v_purged
    from weir_internal.groups g where g.queue_no = q.no order by 1 nulls first limit 1;
    if v_purged is not null then -- older rows are for nobody, due or not
        execute format(
            'delete from %1$s where ctid = any(array(
                 select l.ctid from %1$s l where l.txid < $1 order by l.txid, l.due_at, l.id limit 5000))', v_table)
        using v_purged;
        get diagnostics v_deleted = row_count;
        if v_deleted > 0 then
            return 1;
        end if;
    end if;
    execute format(
        'delete from %1$s where ctid = any(array(
             select l.ctid from %1$s l where l.due_at <= $1 and not %2$s order by l.due_at, l.id limit 5000))',
        v_table, v_needed)
    using weir_internal.clock();
    get diagnostics v_deleted = row_count;
    return (v_deleted > 0)::int;
end
$$;

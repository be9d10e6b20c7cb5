-- weir_log.trim_delayed(), weir_log.trim_delayed_of(p_queue), weir_log.trim_parked()
-- trim_delayed: deletes from `delayed` what every group concerned has claimed, of up to 50 queues and up to 1,000
-- messages of each, and truncates it when it is empty. trim_parked: deletes what `parked` has of groups that are gone,
-- up to 1,000 rows, and truncates it when it is empty.
--
-- Parameters:
--   p_queue  queue number
-- Returns: how many messages were deleted, and 1 more for a truncation.
-- Raises: none; what goes wrong with one queue is reported.
-- Locks: ROW EXCLUSIVE on the table, or ACCESS EXCLUSIVE, tried.
create or replace function weir_log.trim_delayed()
returns int
language plpgsql
as $$
declare
    v_queue int;
    v_last int;
    v_done int := 0;
begin
    if pg_relation_size('weir_log.delayed') = 0 then
        return 0;
    end if;
    select d.queue_no into v_last from weir_log.delayed d order by d.queue_no desc limit 1;
    for v_queue in
        with recursive s (first) as (
            values (0), (floor(random() * v_last)::int)),
        l (first, queue_no, i) as (
            select s.first, s.first, 0 from s
            union all
            select l.first, (select d.queue_no from weir_log.delayed d where d.queue_no > l.queue_no
                             order by d.queue_no limit 1), l.i + 1
            from l where l.queue_no is not null and l.i < 25)
        select distinct l.queue_no from l where l.i > 0 and l.queue_no is not null
    loop
        begin
            v_done := v_done + weir_log.trim_delayed_of(v_queue);
        exception
            when others then
                raise warning 'what queue "%" has delayed is kept: %',
                    (select name from weir_internal.queues where no = v_queue), sqlerrm;
        end;
    end loop;
    return v_done + weir_internal.truncate_if_empty('weir_log.delayed');
end
$$;
create or replace function weir_log.trim_delayed_of(p_queue int)
returns int
language plpgsql
as $$
declare
    v_groups weir_internal.groups[];
    v_cursors weir_internal.claim[];
    v_purged xid8; -- what older transactions delayed is for nobody, due or not
    v_done int;
    v_older int := 0;
begin
    select array_agg(g), array_agg(weir_log.cursor(g, -1, 1)),
        case when bool_and(g.purged is not null) then min(pg_snapshot_xmin(g.purged)::text::bigint)::text::xid8 end
    into v_groups, v_cursors, v_purged
    from weir_internal.groups g where g.queue_no = p_queue;
    delete from weir_log.delayed where ctid = any(array(
        select t.row
        from (select d.ctid as row, d from weir_log.delayed d where d.queue_no = p_queue
                  and (d.due_at <= weir_internal.clock() or v_groups is null)
              order by d.due_at, d.id limit 1000) t
        where not exists (
            select from generate_subscripts(v_groups, 1) i
            where weir_log.is_for(v_groups[i], t.d)
                and not (((t.d).due_at, (t.d).id) <= (v_cursors[i].due_at, v_cursors[i].due_id)
                    and pg_visible_in_snapshot((t.d).txid, v_cursors[i].cur)))));
    get diagnostics v_done = row_count;
    if v_purged is not null then
        delete from weir_log.delayed where ctid = any(array(
            select d.ctid from weir_log.delayed d where d.txid < v_purged and d.queue_no = p_queue
            order by d.txid limit 1000));
        get diagnostics v_older = row_count;
    end if;
    return v_done + v_older;
end
$$;
create or replace function weir_log.trim_parked()
returns int
language plpgsql
as $$
declare
    v_done int;
begin
    if pg_relation_size('weir_log.parked') = 0 then
        return 0;
    end if;
    delete from weir_log.parked where ctid = any(array(
        with recursive l (group_no, i) as (
            select p.group_no, 0 from (
                (select w.group_no from weir_log.parked w order by w.group_no limit 1)
                union all
                (select w.group_no from weir_log.parked w
                 where w.group_no > (select random() * max(m.group_no) from weir_log.parked m)::int
                 order by w.group_no limit 1)) p
            union all
            select (select p.group_no from weir_log.parked p where p.group_no > l.group_no
                    order by p.group_no limit 1), l.i + 1
            from l where l.group_no is not null and l.i < 25)
        select p.ctid
        from (select distinct l.group_no from l where l.group_no is not null) d
        cross join lateral (select w.ctid from weir_log.parked w where w.group_no = d.group_no limit 1000) p
        where not exists (select from weir_internal.groups g where g.no = abs(d.group_no))
        limit 1000));
    get diagnostics v_done = row_count;
    return v_done + weir_internal.truncate_if_empty('weir_log.parked');
end
$$;

-- weir_log.carry_claims(p_table)
-- Copies from a table of the claim log that nobody writes to any more, to the open one, what is still needed: the rows
-- of unfinished claims and cursors; and begins a new base. A cursor that has claimed all that is visible in the base's
-- snapshot, and has no unfinished claim, is not needed: its lane stands at the base. A lane that stood at the base
-- before and has something to claim gets a row of its own, with the id 0, so that whatever a consumer wrote meanwhile
-- is newer.
--
-- Parameters:
--   p_table  0 or 1: the table
-- Returns: nothing.
-- Raises: WR016
-- Locks: ACCESS SHARE on the segments and both tables of the claim log, ROW EXCLUSIVE on the open one.
create or replace function weir_log.carry_claims(p_table int)
returns void
language plpgsql
as $$
declare
    b weir_internal.claim := weir_log.new_base();
    k record;
    c weir_internal.claim;
    v_unfinished bigint[];
    v_claims bigint[] := '{}'; -- those that are not finished
    v_kept weir_internal.claim[] := '{}'; -- cursors to be carried over
    v_ids bigint[] := '{}';    -- and those that are stored as they are, by their ids
    v_where text;
begin
    for k in
        select i.group_no, i.lane, i.stripe, g.queue_no, (weir_internal.apply_ttl(g)).since
        from weir_log.cursors_in(p_table) i join weir_internal.groups g on g.no = i.group_no
        join weir_internal.queues q on q.no = g.queue_no
        join weir_internal.logs h on h.schema_name = 'weir_log' and h.no in (q.log_no, q.moving_from)
    loop
        begin
            c := weir_log.cursor_2(k.group_no, k.lane, k.stripe);
            v_unfinished := array(
                select u.claim from weir_log.unfinished(k.group_no, k.lane, k.stripe, c.low, 'infinity', null) u);
        exception
            when others then
                raise exception 'the claim log cannot turn: queue "%": %',
                    (select name from weir_internal.queues where no = k.queue_no), sqlerrm
                    using errcode = 'WR016', hint = 'The claim log grows until this is mended.';
        end;
        continue when c.width = 0 and v_unfinished = '{}'; -- a stripe of a lane that was merged
        v_claims := v_claims || v_unfinished;
        if c.lane >= 0 and (c.width is null or c.stripe > 1) and not weir_log.is_behind(c, k.queue_no, k.since, b.cur)
        then -- it has claimed all there is: it stands at the base, with its claims if it has any
            continue when c.stripe = 1 and v_unfinished = '{}';
            v_kept := array_append(v_kept, weir_log.at_base(c, b));
        elsif c.lane <> -1 or v_unfinished <> '{}' or exists (
                select from weir_log.delayed d
                where d.queue_no = k.queue_no and (d.group_no is null or d.group_no = c.group_no)) then
            v_kept := array_append(v_kept, c);
        else
            continue;
        end if;
        v_ids := array_append(v_ids, c.id);
    end loop;
    -- a claim has a row in each of its lanes, and none of these may become the newest of its cursor
    v_where := 'from weir_log.claims_%s o where o.claim = any($1)';
    for k in
        execute format('select distinct o.group_no, o.lane, o.stripe ' || v_where || ' and o.kind = ''c''', p_table)
        using v_claims
    loop
        c := weir_log.cursor_2(k.group_no, k.lane, k.stripe);
        if c.id <> all(v_ids) then
            v_kept := array_append(v_kept, c);
            v_ids := array_append(v_ids, c.id);
        end if;
    end loop;
    execute format(
        'insert into weir_log.claims_%s select o.* ' || v_where || ' and not (o.kind = ''c'' and o.id = any($2))',
        1 - p_table, p_table) using v_claims, v_ids;
    execute format(
        'insert into weir_log.claims_%s
         select u.* from unnest($1) k cross join lateral weir_log.as_cursor(k, k.claim = any($2)) u
         where exists (select from weir_log.claims_%s o where o.kind = ''c'' and o.group_no = u.group_no
                           and o.lane = u.lane and o.stripe = u.stripe and o.id = u.id)', 1 - p_table, p_table)
    using v_kept, v_claims;
    v_kept := array(select weir_log.lanes_behind(b.cur));
    execute format('insert into weir_log.claims_%s select u.* from unnest($1) u', 1 - p_table) using v_kept || b;
end
$$;
-- weir_log.is_behind(c, p_queue, p_since, p_snapshot), weir_log.lanes_behind(p_snapshot)
-- is_behind: whether a cursor has still to claim something that is visible in a snapshot. lanes_behind: the cursors of
-- lanes that have no row in the claim log and have something to claim, of groups that the snapshot has seen.
--
-- Parameters:
--   c           the cursor
--   p_queue     queue number
--   p_since     what was sent before is not for its group
--   p_snapshot  the snapshot
-- Returns: see above.
-- Raises: none
-- Locks: ACCESS SHARE on the segments, on `rest` and on the claim log.
create or replace function weir_log.is_behind(
    c weir_internal.claim, p_queue int, p_since timestamptz, p_snapshot pg_snapshot)
returns boolean
language plpgsql
as $$
declare
    v_first xid8 := pg_snapshot_xmax(case when c.finished then c.cur else c.prev end);
    v_late xid8[] := array(select x from (select pg_snapshot_xip(c.prev) as x union select pg_snapshot_xip(c.cur)) l
                           where x < v_first and pg_visible_in_snapshot(x, p_snapshot));
    v_segments bigint[] := weir_log.ring_segments();
    v_found boolean;
begin
    for k in 0 .. 3 loop
        execute format(
            'select exists (
                 select from %2$s t where t.queue_no = $1 and t.lane = $2 and t.txid >= $3
                     and t.txid < pg_snapshot_xmax($4) and pg_visible_in_snapshot(t.txid, $4)
                     and weir_log.is_unclaimed($5, $6, %1$s, t.txid, t.id, t.enqueued_at))
                 or exists (
                     select from unnest($7) x
                     cross join lateral (select * from %2$s e
                                         where e.queue_no = $1 and e.lane = $2 and e.txid = x) t
                     where weir_log.is_unclaimed($5, $6, %1$s, t.txid, t.id, t.enqueued_at))',
            case k when 3 then 't.seg' else '$8' end, weir_log.table_name(k))
        into v_found
        using p_queue, c.lane, v_first, p_snapshot, c, p_since, v_late, v_segments[k + 1];
        if v_found then
            return true;
        end if;
    end loop;
    return false;
end
$$;
create or replace function weir_log.lanes_behind(p_snapshot pg_snapshot)
returns setof weir_internal.claim
language plpgsql
as $$
declare
    l record;
    g weir_internal.groups;
    c weir_internal.claim;
begin
    for l in
        select distinct i.queue_no, i.lane from generate_series(0, 3) k
        cross join lateral weir_log.lanes_in(k, 0, 0, null) i where i.lane >= 0
    loop
        for g in
            select w.* from weir_internal.groups w
            join weir_internal.queues q on q.no = w.queue_no
            join weir_internal.logs h on h.schema_name = 'weir_log' and h.no in (q.log_no, q.moving_from)
            where w.queue_no = l.queue_no and pg_visible_in_snapshot(w.start_by, p_snapshot)
        loop
            c := weir_log.cursor_2(g.no, l.lane, 1);
            continue when c.kind is not null;
            c := weir_log.first_cursor(g, l.lane, 1);
            if weir_log.is_behind(c, l.queue_no, (weir_internal.apply_ttl(g)).since, p_snapshot) then
                c.id := 0;
                return next c;
            end if;
        end loop;
    end loop;
end
$$;

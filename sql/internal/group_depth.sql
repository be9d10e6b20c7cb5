-- weir_internal.group_depth(q, g)
-- The messages of a group by what becomes of them. All is read in the snapshot of the statement that calls this, so
-- that a message on its way from one place to another is counted in one of them. Small numbers are exact; what would
-- take long to count is estimated:
--   waiting  exact while the group has less than 1,000 records to read (of 1 to 1,000 messages, as they were sent);
--            beyond that each lane counts what is left of the 1,000, 32 at least, and lane_waiting estimates the rest.
--            With producers that do not change their ways the error is a few per cent
--   claimed  exact while no lane has more than 200 claims since its oldest unfinished one: see slot_claimed
--   delayed, parked  exact in tables of up to 64 pages (512 KiB), else from a sample of them: see sample_rows
--   dead     exact up to 1,000, else from a sample of the table of all dead letters
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: one row, the fields as in weir.group_stats.
-- Raises: WR016
-- Locks: ACCESS SHARE on the queue's tables.
create or replace function weir_internal.group_depth(
    q weir_internal.queues, g weir_internal.groups,
    out waiting bigint, out claimed bigint, out delayed bigint, out parked bigint, out dead bigint,
    out oldest timestamptz, out delivered bigint, out exact boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    s record;
    v_now timestamptz := weir_internal.clock();
    v_budget int := 1000;
    v_later text := format('weir_internal.q%s_later', q.no);
    v_condition text := '(l.group_id is null or l.group_id = $1.id)
        and l.enqueued_at >= case when l.group_id is null then $1.since else weir_internal.ttl_start($1) end
        and ($1.purged is null or not pg_visible_in_snapshot(l.txid, $1.purged))';
begin
    waiting := 0;
    claimed := 0;
    delivered := 0;
    exact := true;
    for l in 0 .. q.lanes loop
        select * into s from weir_internal.slot_claimed(q, (g.no * (q.lanes + 1) + l)::smallint);
        c := s.c;
        delivered := delivered + coalesce(c.total, 0);
        claimed := claimed + s.n;
        exact := exact and s.exact;
        exit when l = q.lanes;
        select * into s from weir_internal.lane_waiting(q, g, c, greatest(v_budget, 32));
        waiting := waiting + s.n;
        oldest := least(oldest, s.oldest);
        v_budget := v_budget - s.records;
        exact := exact and s.exact;
    end loop;
    -- c is the cursor of the last lane, which tells how far `later` has been claimed
    execute format(
        'select count(*) as rows, count(*) filter (where %s) as n from (
             (select l.* from %s l
              where (l.due_at, l.id) > ($2, $3) and l.due_at <= $4 order by l.due_at, l.id limit 1000)
             union all
             (select l.* from weir_internal.q%s_late($1, $5) l limit 1000)) l', v_condition, v_later, q.no)
    into s using g, c.due_at, c.due_id, v_now, c;
    waiting := waiting + s.n;
    exact := exact and s.rows < 1000;
    select * into s from weir_internal.sample_rows(v_later, format('l.due_at > %L and %s', v_now, v_condition), g);
    delayed := s.n;
    exact := exact and s.exact;
    select * into s from weir_internal.sample_rows(
        format('weir_internal.q%s_parked', q.no), 'l.group_id = $1.id and l.holder is null', g);
    parked := s.n;
    exact := exact and s.exact;
    if g.keyed then
        select * into s from weir_internal.sample_rows(format('weir_internal.q%s_lines', q.no), format(
            'l.group_id = $1.id and l.no > (select t.pos from weir_internal.q%s_turns t
                 where t.group_id = l.group_id and t.line = l.line order by t.no desc limit 1)', q.no), g);
        parked := parked + s.n;
        exact := exact and s.exact;
        execute format(
            'select least($2, min(m.enqueued_at))
             from (select m.enqueued_at from weir_internal.q%s_in_line m where m.group_id = $1 limit 1000) m', q.no)
        into oldest using g.id, oldest;
    end if;
    select count(*) into dead
    from (select from weir_internal.dead_letters d where d.queue_no = q.no and d.group_no = g.no limit 1000) d;
    if dead = 1000 then
        select * into s from weir_internal.sample_rows('weir_internal.dead_letters',
            'l.queue_no = $1.queue_no and l.group_no = $1.no', g);
        dead := greatest(1000, s.n);
        exact := exact and s.exact;
    end if;
end
$$;

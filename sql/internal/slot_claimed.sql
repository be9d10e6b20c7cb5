-- weir_internal.slot_claimed(q, p_slot)
-- How many messages of a slot are under a claim that is not finished. Looks at the 100 oldest claims above the slot's
-- low-water mark and at the 100 newest. Of what was delivered between them it takes the share that is unfinished at
-- both ends.
--
-- Parameters:
--   q       the queue
--   p_slot  the slot
-- Returns: one row: c, the slot's newest claim, which is its lane's cursor; n, messages; exact, false when n is an
-- estimate.
-- Raises: WR016
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.slot_claimed(
    q weir_internal.queues, p_slot smallint, out c weir_internal.claim, out n bigint, out exact boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
    v_ends bigint[] := '{}';
    v_totals bigint[] := '{}'; -- of each end: messages delivered before it, and with it
    v_left bigint[] := '{}';
    s record;
begin
    execute format(
        'select * from weir_internal.q%s_claims_2 where slot = $1 and what = 0 order by id desc limit 1', q.no)
    into c using p_slot;
    if c.id is null then -- nobody finds one, then
        execute format('select * from weir_internal.q%s_cursor($1)', q.no) into c using p_slot;
    end if;
    for s in execute format(
        'with head as materialized (
             select id, ids, n, coalesce(total, 0) as total from weir_internal.q%1$s_claims_2
             where slot = $1 and what = 0 and id >= $2 order by id limit 100),
         tail as materialized (
             select id, ids, n, coalesce(total, 0) as total from weir_internal.q%1$s_claims_2
             where slot = $1 and what = 0 and id >= $2 order by id desc limit 100),
         ends as (
             select 1 as part, id, ids, n, total from head
             union
             select 2, id, ids, n, total from tail where id > (select max(id) from head))
         select e.part, min(e.id) >> 14 as first, max(e.id) >> 14 as last, min(e.total - e.n) as passed,
             max(e.total) as total,
             coalesce(sum(weir_internal.count_ids(e.ids - d.done)) filter (where e.n > 0 and not d.whole), 0) as n
         from ends e
         cross join lateral (
             select coalesce(bool_or(x.ids is null), false) as whole, coalesce(range_agg(m), ''{}'') as done
             from (select ids from weir_internal.q%1$s_claims_2 where slot = $1 and what = 2 and id = e.id) x
             left join lateral unnest(x.ids) m on true) d
         group by e.part order by e.part', q.no)
        using c.slot, c.low
    loop
        v_ends := v_ends || s.first || s.last;
        v_totals := v_totals || s.passed || s.total;
        v_left := v_left || s.n;
    end loop;
    n := coalesce(v_left[1], 0) + coalesce(v_left[2], 0);
    exact := v_left[2] is null or v_ends[3] - v_ends[2] <= 1;
    if not exact then
        n := n + weir_internal.extrapolate(v_left[1], v_totals[2] - v_totals[1], v_left[2], v_totals[4] - v_totals[3],
            greatest(0, v_totals[3] - v_totals[2]));
    end if;
end
$$;

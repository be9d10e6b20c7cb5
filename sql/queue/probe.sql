-- probe
-- Template of weir_internal.<q>_probe: which lanes of a group have something to do, in two statements however many
-- lanes there are.
--
-- Parameters:
--   g        the group
--   p_first  the lane to begin with
--   p_now    time against which leases expire
-- Returns: -1 - lane of those where a lease has expired, then the lanes with something new, from p_first on; it may
-- name one lane too many, never one too few. With priorities, a level goes by when its next message was sent, as if
-- that were its priority times the queue's aging earlier; one lane of the level, the first from p_first on, speaks for
-- all.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log and the open segment.
insert into weir_internal.templates (name, body) values ('probe', $template$
create or replace function weir_internal.{q}_probe(g weir_internal.groups, p_first int, p_now timestamptz)
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint;
    v_table int;
    v_hi bigint := pg_sequence_last_value('weir_internal.{q}_log_ring');
    v_now pg_snapshot;
    v_expired int[];
    v_busy int[] := '{}';
    v_idle int[];
    v_curs pg_snapshot[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
        --{ 3
        {if} v_table = {k} then
            select array_agg(-1 - l) filter (where c.next_expiry <= p_now),
                coalesce(array_agg(l) filter (where l < {lanes} and (not c.finished or c.lo < v_hi)), '{}'),
                array_agg(l) filter (where l < {lanes} and c.finished and c.lo >= v_hi),
                array_agg(c.cur) filter (where l < {lanes} and c.finished and c.lo >= v_hi)
            into v_expired, v_busy, v_idle, v_curs
            from generate_series(0, {lanes}) l
            cross join lateral (
                select next_expiry, finished, lo, cur from weir_internal.{q}_claims_{k}
                where slot = g.no * ({lanes} + 1) + l and what = 0 order by id desc limit 1
            ) c;
        --}
        end if;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
    if v_idle is not null then
        v_now := weir_internal.snapshot();
        --{ 3
        {if} v_hi % 3 = {k} then
            v_busy := v_busy || array(
                select u.lane from unnest(v_idle, v_curs) as u (lane, cur)
                where exists (select from weir_internal.{q}_log_{k} s
                              where s.lane = u.lane and s.txid >= pg_snapshot_xmax(u.cur))
                    or pg_snapshot_xmin(u.cur) < pg_snapshot_xmax(u.cur)
                    and exists (select from pg_snapshot_xip(u.cur) x
                                cross join lateral (select from weir_internal.{q}_log_{k} s
                                                    where s.lane = u.lane and s.txid = x limit 1) t
                                where pg_visible_in_snapshot(x, v_now)));
        --}
        end if;
    end if;
    if v_expired is null and cardinality(v_busy) = 0 then
        return '{}';
    end if;
    v_busy := array(select l from unnest(v_busy) l where l >= p_first)
        || array(select l from unnest(v_busy) l where l < p_first);
    --{ {prioritized}
    v_busy := array(
        with busy as materialized (
            select u.lane, u.i, u.lane / {level_lanes} as level from unnest(v_busy) with ordinality as u (lane, i)),
        heads as (
            select b.level, weir_internal.{q}_sent_at(g, b.lane) - b.level * interval '{aging}' as rank
            from (select distinct on (level) level, lane from busy order by level, i) b)
        select b.lane from busy b join heads h using (level) order by h.rank, b.level desc, b.i);
    --}
    return v_expired || v_busy;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

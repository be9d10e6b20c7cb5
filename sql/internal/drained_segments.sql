-- weir_internal.drained_segments(q)
-- The segments that nobody needs: without writers, passed by every lane of every group, and with no unfinished claim on
-- them. When that last thing alone keeps two segments, the claims' messages are copied from the older to the open one,
-- so that a long lease does not stop the ring.
--
-- Parameters:
--   q  the queue
-- Returns: segment numbers, oldest first.
-- Raises: WR016
-- Locks: the advisory locks of claims that are moved, tried.
create or replace function weir_internal.drained_segments(q weir_internal.queues)
returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_passed bigint[];
    v_claimed bigint[];
    v_until timestamptz := weir_internal.clock() - q.retention;
begin
    if not exists (select from weir_internal.segments s
                   where s.queue_no = q.no and s.freed_by is null and s.sealed_at <= v_until
                       and pg_visible_in_snapshot(s.sealed_by, weir_internal.snapshot())) then
        return;
    end if;
    execute format(
        'with cursors as materialized (
             select k from weir_internal.groups g cross join generate_series(0, $2 - 1) l
             cross join lateral weir_internal.q%s_cursor((g.no * ($2 + 1) + l)::smallint) k
             where g.queue_no = $1)
         select array_agg(s.no order by s.no) from weir_internal.segments s
         where s.queue_no = $1 and s.freed_by is null and s.sealed_at <= $3
             and pg_visible_in_snapshot(s.sealed_by, weir_internal.snapshot())
             and not exists (select from cursors where not weir_internal.has_passed(k, s.no, s.sealed_by))', q.no)
    into v_passed using q.no, q.lanes, v_until;
    execute format(
        'select array_agg(distinct coalesce((u.src).seg, u.seg))
         from weir_internal.groups g cross join generate_series(0, $2) l
         cross join lateral weir_internal.q%1$s_cursor((g.no * ($2 + 1) + l)::smallint) k
         cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
         where g.queue_no = $1', q.no)
    into v_claimed using q.no, q.lanes;
    if cardinality(v_passed) >= 2 and v_passed <@ v_claimed then
        perform weir_internal.move_claims(q, v_passed[1]);
    end if;
    return query
    select s from unnest(v_passed) s where not coalesce(s = any(v_claimed), false) order by s;
end
$$;

-- weir_internal.purge_group(q, g)
-- Moves every cursor of a group to what is not committed at this moment: one snapshot divides what is dropped from what
-- is not. What is not due yet stays in `later`, because it may be for other groups too; groups.purged says that it is
-- not for this one. The caller holds the queue's administration lock.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: how many messages were dropped.
-- Raises: none
-- Locks: the turn of a group with lines of keys, the advisory locks of the group's lanes and claims, until the
-- transaction ends.
create or replace function weir_internal.purge_group(q weir_internal.queues, g weir_internal.groups)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    p weir_internal.place;
    v_waiting bigint;
    v_later bigint;
    v_claimed int8multirange;
    v_parked bigint := 0;
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -2 - g.no) where g.keyed;
    perform weir_internal.lock_lanes(q, g);
    perform weir_internal.lock_claims(q, g);
    p := weir_internal.end_place(q);

    select coalesce(sum(case when w.after = 0 then w.n
                             when w.ids is null then least(w.n, w.id - w.after)
                             else (select count(*) from unnest(w.ids) i where i > w.after) end), 0)
    into v_waiting
    from generate_series(0, q.lanes - 1) l
    cross join lateral weir_internal.waiting_records(q.no, g, l) w
    where pg_visible_in_snapshot(w.txid, p.cur);
    execute format(
        'select count(*) from weir_internal.q%1$s_cursor(($1 * ($2 + 1) + $2)::smallint) k
         cross join weir_internal.q%1$s_later l
         where (l.group_id is null and l.enqueued_at >= $4 or l.group_id = $3 and l.enqueued_at >= $7)
             and pg_visible_in_snapshot(l.txid, $5)
             and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
             and ($6 is null or not pg_visible_in_snapshot(l.txid, $6))', q.no)
    into v_later using g.no, q.lanes, g.id, g.since, p.cur, g.purged, weir_internal.ttl_start(g);
    v_claimed := weir_internal.end_claims(q, g);
    if g.ordered then
        execute format(
            'with gone as (delete from weir_internal.q%s_parked where group_id = $1 returning id)
             select count(*) from gone where not id <@ $2', q.no)
        into v_parked using g.id, v_claimed;
    elsif g.keyed then
        v_parked := (select count(*) from weir_internal.lined_up(q.no, g.id, null));
        perform weir_internal.clear_lines(q, g);
    end if;

    perform weir_internal.move_cursors(q, g, p);
    update weir_internal.groups set purged = p.cur where queue_no = q.no and no = g.no;
    return v_waiting + v_later + v_parked + weir_internal.count_ids(v_claimed);
end
$$;

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
-- Locks: the advisory locks of the group's lanes, until the transaction ends.
create or replace function weir_internal.purge_group(q weir_internal.queues, g weir_internal.groups)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    v_hi bigint;
    v_now timestamptz;
    v_xid xid8;
    v_cur pg_snapshot;
    v_waiting bigint;
    v_later bigint;
    v_claimed int8multirange;
    v_parked bigint := 0;
begin
    perform weir_internal.lock_lanes(q, g);
    v_now := weir_internal.clock();
    v_xid := pg_current_xact_id_if_assigned();
    execute format('select weir_internal.q%s_reach($1)', q.no) into v_cur using v_now;
    v_hi := pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no));

    select coalesce(sum(case when w.after = 0 then w.n
                             when w.ids is null then least(w.n, w.id - w.after)
                             else (select count(*) from unnest(w.ids) i where i > w.after) end), 0)
    into v_waiting
    from generate_series(0, q.lanes - 1) l
    cross join lateral weir_internal.waiting_records(q.no, g, l) w
    where pg_visible_in_snapshot(w.txid, v_cur);
    execute format(
        'select count(*) from weir_internal.q%1$s_cursor(($1 * ($2 + 1) + $2)::smallint) k
         cross join weir_internal.q%1$s_later l
         where (l.group_id is null or l.group_id = $3) and l.enqueued_at >= $4 and pg_visible_in_snapshot(l.txid, $5)
             and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
             and ($6 is null or not pg_visible_in_snapshot(l.txid, $6))', q.no)
    into v_later using g.no, q.lanes, g.id, g.since, v_cur, g.purged;
    v_claimed := weir_internal.end_claims(q, g);
    if g.ordered then
        execute format(
            'with gone as (delete from weir_internal.q%s_parked where group_id = $1 returning id)
             select count(*) from gone where not id <@ $2', q.no)
        into v_parked using g.id, v_claimed;
    end if;

    for l in 0 .. q.lanes loop
        execute format('select * from weir_internal.q%s_cursor($1)', q.no)
        into c using (g.no * (q.lanes + 1) + l)::smallint;
        c.cur := v_cur;
        if l < q.lanes then
            c.prev := v_cur;
            c.finished := true;
            c.lo := weir_internal.next_segment(q.no, c.lo, v_hi, v_cur);
            c.seg := c.lo;
            c.txid := '0';
            c.pos := 0;
        else
            c.txid := case when v_xid is null then pg_current_xact_id() end; -- as in the template claim_due
            c.due_id := case when c.due_at > v_now then c.due_id else 9223372036854775807 end;
            c.due_at := greatest(c.due_at, v_now);
        end if;
        execute format('select weir_internal.q%s_checkpoint($1)', q.no) using c;
    end loop;
    update weir_internal.groups set purged = v_cur where queue_no = q.no and no = g.no;
    return v_waiting + v_later + v_parked + weir_internal.count_ids(v_claimed);
end
$$;

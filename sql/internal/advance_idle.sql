-- weir_internal.advance_idle(q)
-- Moves the cursors of lanes that have nothing to deliver, where that lets a segment go or a low-water mark rise; a
-- lane with messages waiting is left to its consumers, who move it.
--
-- Parameters:
--   q  the queue
-- Returns: how many cursors it moved.
-- Raises: none
-- Locks: the advisory locks of the lanes, tried, until the transaction ends.
create or replace function weir_internal.advance_idle(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    g weir_internal.groups;
    c weir_internal.claim;
    v_now timestamptz := weir_internal.clock();
    v_slot smallint;
    v_before bigint;
    v_moved boolean;
    v_stale boolean;
    v_steps int := 0;
begin
    execute format(
        'select bool_or(c.next_expiry <= $2)
         from weir_internal.groups g cross join generate_series(0, $3) l
         cross join lateral (select next_expiry from weir_internal.q%s_claims_2
                             where slot = g.no * ($3 + 1) + l and what = 0 order by id desc limit 1) c
         where g.queue_no = $1', q.no)
    into v_stale using q.no, v_now, q.lanes;
    if v_stale is not true and pg_relation_size(format('weir_internal.q%s_later', q.no)) = 0
        and not exists (select from weir_internal.segments s
                        where s.queue_no = q.no and s.freed_by is null
                            and s.sealed_at + q.retention <= v_now) then
        return 0;
    end if;
    for g in select * from weir_internal.groups where queue_no = q.no loop
        g := weir_internal.apply_ttl(g);
        execute format('select weir_internal.q%s_skip_due($1)', q.no) into v_moved using g;
        v_steps := v_steps + v_moved::int;
        for l in 0 .. q.lanes loop
            v_slot := g.no * (q.lanes + 1) + l;
            execute format('select * from weir_internal.q%s_cursor($1)', q.no) into c using v_slot;
            v_stale := false;
            if c.next_expiry <= v_now then
                execute format('select not exists (select from weir_internal.q%s_unfinished($1, $2, $3, 1))', q.no)
                into v_stale using v_slot, c.low, v_now;
            end if;
            continue when not v_stale
                and (l = q.lanes
                     or not exists (select from weir_internal.segments s
                                    where s.queue_no = q.no and s.freed_by is null
                                        and pg_visible_in_snapshot(s.sealed_by, weir_internal.snapshot())
                                        and not weir_internal.has_passed(c, s.no, s.sealed_by)));
            continue when not pg_try_advisory_xact_lock(weir_internal.lock_class(q.no), v_slot);
            execute format('select * from weir_internal.q%s_cursor($1)', q.no) into c using v_slot;
            v_before := c.id;
            if l = q.lanes then
                execute format('select weir_internal.q%s_checkpoint($1)', q.no) using c;
            else
                execute format('select weir_internal.q%s_claim($1, $2, $3, 0, null)', q.no) using c, g, l;
            end if;
            execute format('select * from weir_internal.q%s_cursor($1)', q.no) into c using v_slot;
            v_steps := v_steps + (c.id <> v_before)::int;
        end loop;
    end loop;
    return v_steps;
end
$$;

-- weir_internal.rotate_log(q)
-- One step of a queue's log ring: names the segment that comes next, and in a later transaction, when the open one is
-- full, turns to it (a sequence does not roll back, so it may only ever name what is committed); notes which closed
-- segments have no writer left (their SHARE lock was to be had, and the ring points elsewhere); truncates those that
-- every group has passed. A table that a long transaction or a claim keeps is left out of the turn, and the others go
-- on.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did.
-- Raises: none
-- Locks: SHARE, and then ACCESS EXCLUSIVE, on closed segments, tried for 20 ms.
create or replace function weir_internal.rotate_log(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ring bigint := pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no));
    v_table text := format('weir_internal.q%s_log_', q.no);
    v_steps int := 0;
    v_no bigint;
    v_opened_by xid8;
begin
    select no, opened_by into v_no, v_opened_by from weir_internal.segments where queue_no = q.no and no > v_ring;
    if v_no is null then
        select n into v_no from generate_series(v_ring + 1, v_ring + 2) n
        where not exists (
            select from weir_internal.segments s
            where s.queue_no = q.no and s.no % 3 = n % 3 and s.freed_by is null)
        order by n limit 1;
        if v_no is not null then
            delete from weir_internal.segments where queue_no = q.no and no % 3 = v_no % 3;
            insert into weir_internal.segments (queue_no, no, opened_by) values (q.no, v_no, pg_current_xact_id());
            v_steps := v_steps + 1;
        end if;
    elsif pg_table_size(v_table || v_ring % 3) >= q.segment_bytes
        and pg_visible_in_snapshot(v_opened_by, weir_internal.snapshot()) then
        perform setval(format('weir_internal.q%s_log_ring', q.no), v_no);
        v_ring := v_no;
        v_steps := v_steps + 1;
    end if;
    for v_no in
        select no from weir_internal.segments
        where queue_no = q.no and no < v_ring and sealed_by is null order by no
    loop
        if weir_internal.lock_or_skip(v_table || v_no % 3, 'share') then
            update weir_internal.segments set sealed_by = pg_current_xact_id(), sealed_at = weir_internal.clock()
            where queue_no = q.no and no = v_no;
            v_steps := v_steps + 1;
        end if;
    end loop;
    for v_no in select * from weir_internal.drained_segments(q) loop
        if weir_internal.lock_or_skip(v_table || v_no % 3, 'access exclusive') then
            execute format('truncate table %s', v_table || v_no % 3);
            update weir_internal.segments set freed_by = pg_current_xact_id() where queue_no = q.no and no = v_no;
            v_steps := v_steps + 1;
        end if;
    end loop;
    return v_steps;
end
$$;

-- weir_log.empty_segments(), weir_log.leave_segments()
-- leave_segments: sends readers of segments whose remainder is in `rest` there, by moving the sequence of their table
-- on. Whoever read "it is here" just before either has the table's lock, and so its rows, or looks again when he has
-- read and is sent to `rest`. empty_segments: does so, and truncates the table. A segment of which `rest` has nothing
-- either is forgotten. The caller holds the lock of the log's upkeep.
--
-- Returns: how much was done.
-- Raises: none
-- Locks: empty_segments: ACCESS EXCLUSIVE on tables of the ring that hold no segment, tried.
create or replace function weir_log.empty_segments()
returns int
language plpgsql
as $$
declare
    v_done int := weir_log.leave_segments();
    v_forgotten int;
begin
    for k in 0 .. 2 loop
        if weir_log.is_stale(k) and weir_internal.try_lock_table('weir_log.log_' || k, 'access exclusive') then
            execute format('truncate table weir_log.log_%s', k);
            v_done := v_done + 1;
        end if;
    end loop;
    delete from weir_log.segments s
    where s.freed_by is not null and weir_log.segment_table(s.no) = 3
        and not exists (select from weir_log.rest r where r.seg = s.no);
    get diagnostics v_forgotten = row_count;
    return v_done + v_forgotten;
end
$$;
create or replace function weir_log.leave_segments()
returns int
language plpgsql
as $$
declare
    v_no bigint;
    v_done int := 0;
begin
    for v_no in
        select no from weir_log.segments
        where weir_log.segment_table(no) < 3 and pg_visible_in_snapshot(freed_by, weir_internal.snapshot())
        order by no
    loop
        perform setval('weir_log.log_' || v_no % 3 || '_segment', v_no + 3);
        v_done := v_done + 1;
    end loop;
    return v_done;
end
$$;

-- weir_log.open_segment(p_bytes), weir_log.seal_segments()
-- open_segment: names the segment that comes next, and in a later transaction, when the open one is full, turns the
-- ring to it. A sequence does not roll back, so it may only ever name what is committed. A table that is not free is
-- left out of the turn, and its number with it. seal_segments: notes which closed segments have no writer left: a SHARE
-- lock on them was to be had after the ring had moved on.
--
-- Parameters:
--   p_bytes  the open segment is full beyond this size
-- Returns: how much was done.
-- Raises: none
-- Locks: seal_segments: SHARE on closed segments, tried.
create or replace function weir_log.open_segment(p_bytes bigint)
returns int
language plpgsql
as $$
declare
    v_ring bigint := pg_sequence_last_value('weir_log.log_ring');
    v_no bigint;
    v_opened_by xid8;
begin
    select no, opened_by into v_no, v_opened_by from weir_log.segments where no > v_ring order by no limit 1;
    if v_no is null then
        select n into v_no from generate_series(v_ring + 1, v_ring + 2) n
        where weir_log.is_free((n % 3)::int) order by n limit 1;
        if v_no is null then
            return 0;
        end if;
        insert into weir_log.segments (no, opened_by) values (v_no, pg_current_xact_id());
        return 1;
    elsif pg_table_size('weir_log.log_' || v_ring % 3) < p_bytes
        or not pg_visible_in_snapshot(v_opened_by, weir_internal.snapshot()) then
        return 0;
    end if;
    perform setval('weir_log.log_' || v_no % 3 || '_segment', v_no);
    perform setval('weir_log.log_ring', v_no);
    return 1;
end
$$;
create or replace function weir_log.seal_segments()
returns int
language plpgsql
as $$
declare
    v_no bigint;
    v_done int := 0;
begin
    for v_no in
        select no from weir_log.segments
        where no < pg_sequence_last_value('weir_log.log_ring') and sealed_by is null order by no
    loop
        if weir_internal.try_lock_table('weir_log.log_' || v_no % 3, 'share') then
            update weir_log.segments set sealed_by = pg_current_xact_id(), sealed_at = weir_internal.clock()
            where no = v_no;
            v_done := v_done + 1;
        end if;
    end loop;
    return v_done;
end
$$;
-- weir_log.is_free(p_table), weir_log.is_stale(p_table)
-- Whether a table of the ring holds no segment; is_stale: whether it holds rows all the same, of a segment that is not
-- read there any more.
--
-- Parameters:
--   p_table  0 .. 2
-- Returns: see above.
-- Raises: none
-- Locks: none
create or replace function weir_log.is_free(p_table int)
returns boolean
language plpgsql
as $$
begin
    return pg_relation_size('weir_log.log_' || p_table) = 0
        and not exists (select from weir_log.segments
                        where no = pg_sequence_last_value('weir_log.log_' || p_table || '_segment')
                            and freed_by is null);
end
$$;
create or replace function weir_log.is_stale(p_table int)
returns boolean
language plpgsql
as $$
begin
    return pg_relation_size('weir_log.log_' || p_table) > 0
        and not exists (select from weir_log.segments
                        where no = pg_sequence_last_value('weir_log.log_' || p_table || '_segment'));
end
$$;

-- weir_log.move_remainders(p_bytes, p_retention)
-- Copies what is still needed of closed segments to `rest`, with its place in the log, where that is little; a segment
-- of which nothing is needed has the least. Where it is much, the segment stays as it is, and its row names a queue and
-- a group that keep it. The next look at such a segment comes when 20 times as long has passed as this one took.
--
-- Parameters:
--   p_bytes      how much is little
--   p_retention  so long segments are kept for seek
-- Returns: how many segments were done.
-- Raises: none; what goes wrong with one queue is reported, and its segment stays.
-- Locks: ACCESS SHARE on closed segments and the claim log, ROW EXCLUSIVE on `rest`.
create or replace function weir_log.move_remainders(p_bytes bigint, p_retention interval)
returns int
language plpgsql
as $$
declare
    s record;
    v_start bigint := weir_internal.to_micros(clock_timestamp());
    v_table int;
    v_rows tid[];
    v_holder int[];
    v_done int := 0;
    v_held boolean := false;
begin
    if pg_sequence_last_value('weir_log.next_look') between v_start + 1 and v_start + 60000000 then
        return 0;
    end if;
    for s in
        select * from weir_log.segments
        where no < pg_sequence_last_value('weir_log.log_ring') and freed_by is null
            and sealed_at <= weir_internal.clock() - p_retention
            and pg_visible_in_snapshot(sealed_by, weir_internal.snapshot())
        order by no
    loop
        v_table := s.no % 3;
        select r.rows, r.holder into v_rows, v_holder from weir_log.remainder(s.no, v_table, p_bytes) r;
        if v_holder is null then
            execute format('insert into weir_log.rest select t.*, $1 from weir_log.log_%s t where t.ctid = any($2)',
                v_table) using s.no, v_rows;
            update weir_log.segments set freed_by = pg_current_xact_id(), holder_queue = null, holder_group = null
            where no = s.no;
            v_done := v_done + 1;
        else
            v_held := true;
            update weir_log.segments set holder_queue = v_holder[1], holder_group = v_holder[2]
            where no = s.no and (holder_queue, holder_group) is distinct from (v_holder[1], v_holder[2]);
        end if;
    end loop;
    if v_held then
        perform setval('weir_log.next_look', v_start + least(60000000,
            20 * (weir_internal.to_micros(clock_timestamp()) - v_start)));
    end if;
    return v_done;
end
$$;
-- weir_log.remainder(p_seg, p_table, p_bytes)
-- What is needed of a closed segment.
--
-- Parameters:
--   p_seg, p_table  the segment, and in which table of the ring it is
--   p_bytes         how much of it may be moved
-- Returns: rows, where they are; holder, when they are more than that: the queue, and the group if it is known.
-- Raises: none
-- Locks: ACCESS SHARE on the table and on the claim log.
create or replace function weir_log.remainder(
    p_seg bigint, p_table int, p_bytes bigint, out rows tid[], out holder int[])
language plpgsql
as $$
declare
    l record;
    r record;
    v_bytes bigint := 0;
    v_most bigint := 0; -- the lane that needs the most so far
    v_holder int[];
begin
    rows := '{}';
    for l in select * from weir_log.lanes_in(p_table, 0, 0, null) loop
        begin
            r := weir_log.lane_remainder(p_seg, p_table, l.queue_no, l.lane, p_bytes - v_bytes);
        exception
            when others then
                raise warning 'segment % is kept: queue "%": %', p_seg,
                    (select name from weir_internal.queues where no = l.queue_no), sqlerrm;
                holder := array[l.queue_no, null];
                return;
        end;
        if r.bytes > v_most then
            v_most := r.bytes;
            v_holder := array[l.queue_no, r.holder];
        end if;
        rows := rows || r.rows;
        v_bytes := v_bytes + r.bytes;
        if v_bytes > p_bytes then
            holder := v_holder;
            return;
        end if;
    end loop;
end
$$;
-- weir_log.segment_holders()
-- What keeps closed segments from being given back.
--
-- Returns: one row a segment that is closed and still in the ring: its number, since when it is closed for writers
-- (null: a transaction that wrote to it may still be open), and the queue and group whose remainder was found too large
-- to be moved when it was looked at last; null: none was.
-- Raises: none
-- Locks: none
create or replace function weir_log.segment_holders()
returns table (segment_no bigint, sealed_at timestamptz, queue_no int, group_no int)
language plpgsql
as $$
begin
    return query
    select s.no, s.sealed_at, s.holder_queue, s.holder_group from weir_log.segments s
    where s.no < pg_sequence_last_value('weir_log.log_ring') and s.freed_by is null order by s.no;
end
$$;

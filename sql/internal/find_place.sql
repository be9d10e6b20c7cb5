-- weir_internal.find_place(q, p_position)
-- Finds a position that seek was given. A message is looked for in all of the log, which reads it.
--
-- Parameters:
--   q           the queue
--   p_position  'start', 'end', a timestamp or a message's id
-- Returns: the place.
-- Raises: WR006, WR018
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_internal.find_place(q weir_internal.queues, p_position text)
returns weir_internal.place
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    p weir_internal.place;
    s weir_internal.segments;
begin
    if p_position = 'end' then
        return weir_internal.end_place(q);
    elsif p_position ~ '^\d{1,18}$' then
        p.id := p_position;
    else
        p.since := nullif(weir_internal.start_time(p_position), '-infinity');
    end if;
    for s in
        select * from weir_internal.segments w
        where w.queue_no = q.no and w.freed_by is null
            and w.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no))
        order by w.no
    loop
        p.seg := s.no;
        if p.id is not null then
            execute format(
                'select l.lane, l.txid from weir_internal.q%s_log_%s l
                 where l.lane < $2 and l.id >= $1 and (l.ids is null and l.id - l.n < $1 or $1 = any(l.ids))
                 limit 1', q.no, s.no % 3)
            into p.lane, p.txid using p.id, q.lanes;
            exit when p.lane is not null;
        else
            exit when p.since is null or s.sealed_at is null or s.sealed_at >= p.since;
        end if;
    end loop;
    if p.id is not null and p.lane is null then
        raise exception 'the log of queue "%" has no message %', q.name, p.id
            using errcode = 'WR018',
            hint = 'It was finished and its retention is over, or it was sent with a delay. Seek to a time instead.';
    end if;
    return p;
end
$$;

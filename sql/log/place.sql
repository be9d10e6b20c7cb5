-- weir_log.end_place(), weir_log.find_place(q, p_position)
-- end_place: the place behind all that is committed now, and due; the caller holds the locks of the lanes that it will
-- move there. First it announces up to which time the delayed are passed over, and then it takes the snapshot: see
-- weir_log.delay for why in this order. find_place: a position that seek was given. A message is looked for in all of
-- the log, which reads what the log has of the queue.
--
-- Parameters:
--   q           the queue
--   p_position  'start', 'end', a timestamp or a message's id
-- Returns: the place.
-- Raises: WR006, WR018
-- Locks: ACCESS SHARE on the segments.
create or replace function weir_log.end_place()
returns weir_internal.place
language plpgsql
as $$
declare
    p weir_internal.place;
    v_xid xid8 := pg_current_xact_id_if_assigned();
begin
    p.due_at := weir_internal.clock();
    if weir_internal.to_micros(p.due_at) > pg_sequence_last_value('weir_log.delayed_clock') then
        perform setval('weir_log.delayed_clock', weir_internal.to_micros(p.due_at));
    end if;
    p.cur := weir_internal.snapshot();
    p.bound := case when v_xid is null then pg_current_xact_id() end;
    return p;
end
$$;
create or replace function weir_log.find_place(q weir_internal.queues, p_position text)
returns weir_internal.place
language plpgsql
as $$
declare
    p weir_internal.place;
    s record;
    t record;
begin
    if p_position = 'end' then
        return weir_log.end_place();
    elsif p_position ~ '^\d{1,18}$' then
        p.id := p_position;
    else
        p.since := nullif(weir_internal.start_time(p_position), '-infinity');
    end if;
    for s in
        select * from weir_log.segments w where w.no <= pg_sequence_last_value('weir_log.log_ring') order by w.no
    loop
        p.seg := s.no;
        if p.id is not null then
            t := weir_log.lock_segment(s.no);
            execute format(
                'select l.lane, l.txid from %s l
                 where l.queue_no = $2 and l.lane >= 0 and l.id >= $1
                     and (l.ids is null and l.id - l.n < $1 or $1 = any(l.ids)) %s limit 1', t.table_name, t.condition)
            into p.lane, p.txid using p.id, q.no;
            exit when p.lane is not null;
        else
            exit when p.since is null or s.sealed_at is null or s.sealed_at >= p.since;
        end if;
    end loop;
    if p.id is not null and p.lane is null then
        raise exception 'the log has no message % of queue "%"', p.id, q.name
            using errcode = 'WR018',
            hint = 'It was finished and its retention is over, or it was sent with a delay. Seek to a time instead.';
    end if;
    return p;
end
$$;

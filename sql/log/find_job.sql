-- weir_log.find_job(q, p_id), weir_log.look_for_job(q, p_id, p_sent)
-- find_job: a message as it was sent, wherever a group still has it before it. Unless it is a tracked job, all that the
-- log has of the queue is read. look_for_job: does it in one snapshot, so that a message on its way from one place to
-- another is seen in one of them.
--
-- Parameters:
--   q       the queue
--   p_id    the message
--   p_sent  the transaction that sent it, if it is known
-- Returns: txid, the transaction that sent it, null when it is not there; lane, the lane it stands in, null when it
-- stands in none; message, the message, attempts 0.
-- Raises: none
-- Locks: ACCESS SHARE on the log.
create or replace function weir_log.find_job(
    q weir_internal.queues, p_id bigint, out txid xid8, out lane int, out message weir_internal.delayed_row)
language plpgsql
as $$
declare
    v_sent xid8 := (select e.txid from weir_log.job_events(q, array[p_id]) e where e.what = 0 limit 1);
    v_rings bigint[];
    j record;
begin
    loop
        v_rings := weir_log.ring_states();
        j := weir_log.look_for_job(q, p_id, v_sent);
        exit when weir_log.ring_states() = v_rings;
    end loop;
    txid := j.txid;
    lane := j.lane;
    message := j.message;
end
$$;
create or replace function weir_log.look_for_job(
    q weir_internal.queues, p_id bigint, p_sent xid8, out txid xid8, out lane int,
    out message weir_internal.delayed_row)
language plpgsql stable
as $$
declare
    v_table text;
    r weir_internal.log_record;
    i int;
begin
    foreach v_table in array array['log_0', 'log_1', 'log_2', 'rest'] loop
        execute format(
            'select l.txid, l.id, l.n, l.queue_no, l.lane, l.group_no, l.enqueued_at, l.ids, l.attempts,
                 l.enqueued_times, l.keys, l.headers, l.payloads, l.bodies
             from unnest($2 || -1) u (lane)
             cross join lateral (
                 select * from weir_log.%s s
                 where s.queue_no = $1 and s.lane = u.lane and ($4 is null or u.lane < 0 or s.txid in ($4, ''1''))
                     and s.id >= $3 and (s.ids is null and s.id - s.n < $3 or $3 = any(s.ids))
                 limit 1) l
             order by l.lane desc limit 1', v_table)
        into r using q.no, weir_log.lanes_of(q), p_id, p_sent;
        if r.txid is not null and (message.id is null or r.lane >= 0) then
            i := coalesce(array_position(r.ids, p_id), p_id - r.id + r.n);
            txid := r.txid;
            lane := r.lane;
            message := row(r.txid, q.no, null, null, p_id, 0, r.keys[i], r.headers[i], r.payloads[i],
                r.bodies[i], coalesce(r.enqueued_times[i], r.enqueued_at), null)::weir_internal.delayed_row;
        end if;
        exit when lane >= 0;
    end loop;
    if message.id is null then
        select l.* into message from weir_log.delayed l where l.id = p_id and l.queue_no = q.no limit 1;
        txid := message.txid;
    end if;
    if message.id is null then
        select '1'::xid8, q.no, p.group_no, null, p.id, 0, p.key, p.headers, p.payload, p.body, p.enqueued_at, null
        into message
        from weir_internal.groups g
        join weir_log.parked p on p.group_no = g.no and p.id = p_id
        where g.queue_no = q.no limit 1;
        txid := message.txid;
    end if;
    if message.id is null then
        message := weir_log.find_in_key_queues(q, p_id);
        txid := message.txid;
    end if;
    txid := coalesce(p_sent, txid);
    lane := nullif(lane, -1);
end
$$;

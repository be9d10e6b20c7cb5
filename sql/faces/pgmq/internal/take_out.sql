-- pgmq._take_out(q, g, p_id, p_how), pgmq._settle(p_claim, p_id), pgmq._message(m, p_read, p_vt),
-- pgmq._wait_for_readers(q), pgmq._is_readable(p_place, p_claim, p_message)
-- _take_out: takes a message out of where it stands, whoever has it: it is finished there. So PGMQ deletes, archives
-- and moves by the id alone. _settle: finishes a message of a claim.
--
-- With a claim: under the claim's lock, as an ack, but whether or not the lease has ended. Among the delayed: under
-- the lock of lane -1, so that nobody is claiming it, its row is deleted. In its lane: a note says that it is
-- cancelled. First the mark of the queue is set, then readers whose transactions are open are waited for, since what
-- they claimed and finished cannot be seen yet; they are not kept from going on, so one may claim the message
-- meanwhile. So who finds it with a claim, and the mark set, looks for such a note too, and both do that under a
-- lock on the message. Where the message is to go elsewhere, readers are kept out until the transaction ends.
-- _wait_for_readers: waits for them and lets go of their locks again. _is_readable: whether a message that stands
-- there may be read.
--
-- Parameters:
--   q, g    queue and group
--   p_id    the message
--   p_how   'delete', or 'archive': tell all of it; or 'move': likewise, and it will be read from elsewhere; or 'read':
--           likewise, but only when it may be read now
--   p_claim a claim; its row
--   p_place, p_message  as pgmq._look tells them
--   m       a message
--   p_read  when it was read last
--   p_vt    when it may be read again
-- Returns: _take_out: the message, null when it is nowhere; 'delete': only its id is told. _message: as PGMQ shows it.
-- Raises: WR016
-- Locks: as above; until the transaction ends.
create or replace function pgmq._take_out(
    q weir_internal.queues, g weir_internal.groups, p_id bigint, p_how text)
returns pgmq.message_record
language plpgsql
set jit = off
as $$
declare
    f record;
    l record;
    m pgmq.message_record;
    o weir_internal.delayed_row;
begin
    loop
        l := pgmq._look(q, g, p_id);
        if l.place is null or p_how = 'read' and not pgmq._is_readable(l.place, l.claim, l.message) then
            return null;
        elsif l.place = 'c' then
            perform weir_log_pgmq.lock_claim((l.claim).claim, array[p_id]);
        elsif l.place = 'd' then
            perform weir_log_pgmq.lock_job(q, null);
        else
            perform weir_log_pgmq.mark_special(q);
            if p_how in ('move', 'read') then
                perform weir_log_pgmq.lock_job(q, 0);
            else
                perform pgmq._wait_for_readers(q);
            end if;
        end if;
        perform pg_advisory_xact_lock(weir_internal.message_lock(q.no, p_id))
        where l.place <> 'd' and pg_sequence_last_value(q.special) > 0;
        f := pgmq._look(q, g, p_id);
        continue when f.place is distinct from l.place or (f.claim).claim is distinct from (l.claim).claim;
        exit;
    end loop;
    if p_how = 'read' and not pgmq._is_readable(f.place, f.claim, f.message) then
        return null;
    end if;
    m.msg_id := p_id;
    case f.place
        when 'c' then
            if exists (select from weir_internal.cancellations n
                       where n.queue_no = q.no and n.id = p_id and not n.moved) then
                return null;
            elsif p_how <> 'delete' then
                o := (weir_log_pgmq.messages_of(q, array[f.claim], int8multirange(int8range(p_id, p_id, '[]')), 0,
                    null))[1];
                m := pgmq._message(o, (f.claim).claimed_at, (f.claim).deadline);
            end if;
            perform pgmq._settle((f.claim).claim, p_id);
        when 'd' then
            o := f.message;
            m := pgmq._message(o, pgmq._read_time(o.reason), o.due_at);
            if o.group_no is null then -- other groups keep it
                insert into weir_log_pgmq.delayed
                    (txid, queue_no, group_no, due_at, id, attempts, headers, payload, enqueued_at)
                select pg_current_xact_id(), q.no, w.no,
                    greatest(o.due_at, timestamptz 'epoch'
                        + (pg_sequence_last_value('weir_log_pgmq.delayed_clock') + 1) * interval '1 microsecond'),
                    o.id, o.attempts, o.headers, o.payload, o.enqueued_at
                from weir_internal.groups w
                where w.queue_no = q.no and w.no <> g.no and pg_current_xact_id() is not null;
            end if;
            delete from weir_log_pgmq.delayed d
            where d.queue_no = q.no and d.id = p_id and d.txid = o.txid and d.due_at = o.due_at
                and d.group_no is not distinct from o.group_no;
        else
            o := f.message;
            m := pgmq._message(o, null, o.enqueued_at);
            insert into weir_internal.cancellations (queue_no, id, txid, at, moved)
            values (q.no, p_id, o.txid, weir_internal.clock(), p_how in ('move', 'read'));
    end case;
    return m;
end
$$;
create or replace function pgmq._wait_for_readers(q weir_internal.queues)
returns void
language plpgsql
as $$
begin
    perform weir_log_pgmq.lock_job(q, 0);
    raise exception 'the locks are not needed any longer';
exception
    when raise_exception then
        null;
end
$$;
create or replace function pgmq._settle(p_claim bigint, p_id bigint)
returns void
language plpgsql
as $$
declare
    d weir_internal.claim;
begin
    d.kind := 'd';
    d.claim := p_claim;
    d.id := p_id;
    d.n := 1;
    perform weir_log_pgmq.append_claim(d);
end
$$;
create or replace function pgmq._message(m weir_internal.delayed_row, p_read timestamptz, p_vt timestamptz)
returns pgmq.message_record
language sql immutable
as $$ select row(m.id, m.attempts, m.enqueued_at, p_read, p_vt, m.payload::jsonb, m.headers)::pgmq.message_record $$;
create or replace function pgmq._is_readable(
    p_place "char", p_claim weir_internal.claim, p_message weir_internal.delayed_row)
returns boolean
language sql
as $$
    select case p_place when 'c' then (p_claim).deadline <= weir_internal.clock()
                        when 'd' then (p_message).due_at <= weir_internal.clock()
                        else true end
$$;

-- pgmq._delay(q, p_group, p_messages, p_vt), pgmq._read_time(p_reason)
-- _delay: keeps messages until a time; then they are read from there. When a message was read last is kept as the
-- reason why it is delivered again, as microseconds; _read_time reads that. How the time relates to readers that are
-- claiming at this moment is told at weir_log.delay.
--
-- Parameters:
--   q           the queue
--   p_group     the group they are for; null: all
--   p_messages  the messages, the ids given
--   p_vt        the time
--   p_reason    a reason
-- Returns: _delay: nothing; _read_time: when it was read last, or null.
-- Raises: 23502
-- Locks: ROW EXCLUSIVE on `delayed`, until the transaction ends.
create or replace function pgmq._delay(
    q weir_internal.queues, p_group int, p_messages pgmq.message_record[], p_vt timestamptz)
returns void
language plpgsql
as $$
declare
    v_reached bigint;
begin
    perform pgmq._check_vt(q, p_vt);
    perform weir_log_pgmq.mark_special(q);
    if pg_current_xact_id() is not null then -- assigns the id
        v_reached := pg_sequence_last_value('weir_log_pgmq.delayed_clock');
    end if;
    insert into weir_log_pgmq.delayed
        (txid, queue_no, group_no, due_at, id, attempts, headers, payload, enqueued_at, reason)
    select pg_current_xact_id(), q.no, p_group,
        greatest(p_vt, timestamptz 'epoch' + (v_reached + 1) * interval '1 microsecond'),
        m.msg_id, m.read_ct, m.headers, m.message::text, m.enqueued_at,
        weir_internal.to_micros(m.last_read_at)::text
    from unnest(p_messages) m;
    if pg_sequence_last_value(q.waiting) > 0 then
        perform weir_log_pgmq.wake(q);
    end if;
end
$$;
create or replace function pgmq._read_time(p_reason text)
returns timestamptz language sql immutable
as $$
    select case when p_reason ~ '^\d{1,18}$' then timestamptz 'epoch' + p_reason::bigint * interval '1 microsecond' end
$$;
-- pgmq._check_vt(q, p_vt)
-- Refuses a time that is null, as PGMQ's table does.
--
-- Parameters:
--   q     the queue
--   p_vt  the time
-- Returns: nothing.
-- Raises: 23502
-- Locks: none
create or replace function pgmq._check_vt(q weir_internal.queues, p_vt timestamptz)
returns void
language plpgsql
as $$
begin
    if p_vt is null then
        raise exception 'null value in column "vt" of relation "q_%" violates not-null constraint', substr(q.name, 6)
            using errcode = '23502', hint = 'Give a delay or a visibility timeout.';
    end if;
end
$$;

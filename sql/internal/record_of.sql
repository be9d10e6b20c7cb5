-- weir_internal.record_of(p_messages)
-- Messages that were delivered before, or delayed, as they are delivered now.
--
-- Parameters:
--   p_messages  one at least, in order; attempts counts the deliveries so far
-- Returns: the record; its claim is not set.
-- Raises: none
-- Locks: none
create or replace function weir_internal.record_of(p_messages weir_internal.delayed_row[])
returns weir.message_record
language sql immutable
as $$
    select row(null, count(*), (array_agg(m.id order by m.i))[1], array_agg(m.id order by m.i), 1,
        array_agg(m.attempts + 1 order by m.i),
        case when count(m.key) > 0 then array_agg(m.key order by m.i) end, array_agg(m.payload order by m.i),
        case when count(m.headers) > 0 then array_agg(m.headers order by m.i) end, min(m.enqueued_at),
        array_agg(m.enqueued_at order by m.i), case when count(m.body) > 0 then array_agg(m.body order by m.i) end
        )::weir.message_record
    from unnest(p_messages) with ordinality m
        (txid, queue_no, group_no, due_at, id, attempts, key, headers, payload, body, enqueued_at, reason, i)
$$;

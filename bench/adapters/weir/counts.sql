-- What the database says: messages sent, messages finished, messages received and not finished.
select pg_sequence_last_value(format('weir_internal.q%s_ids', q.no)::regclass) as sent,
    pg_sequence_last_value(format('weir_internal.q%s_ids', q.no)::regclass) - s.waiting - s.claimed - s.delayed - s.dead
        as consumed,
    s.claimed
from weir_internal.queues q cross join weir.stats(q.name) s
where q.name = 'bench'

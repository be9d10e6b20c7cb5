-- What the database says: messages sent, and messages up to the tick that each consumer has finished.
select coalesce(pg_sequence_last_value(q.queue_event_seq::regclass), 0) as sent,
    (select coalesce(sum(t.tick_event_seq), 0)::bigint from pgq.subscription s
        join pgq.tick t on t.tick_queue = s.sub_queue and t.tick_id = s.sub_last_tick
        where s.sub_queue = q.queue_id) as done
from pgq.queue q
where q.queue_name = 'bench'

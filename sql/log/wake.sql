-- weir_log.wake(q)
-- Tells those who wait for messages of a queue. The marks that somebody waits are 64 sequences, which several queues
-- share: 0 nobody, else the number of the one queue that is waited for, or 2147483647 for several. Who sends looks at
-- the mark, at the cost of reading a sequence; the first to see it takes it away and notifies. So a queue under load
-- sends no notification, and NOTIFY's lock on the database is taken only when it serves somebody.
--
-- Parameters:
--   q  the queue
-- Returns: nothing.
-- Raises: none
-- Locks: none; the notification is sent when the transaction commits.
create or replace function weir_log.wake(q weir_internal.queues)
returns void
language plpgsql
as $$
declare
    v_mark bigint := pg_sequence_last_value(q.waiting);
begin
    if v_mark = q.no or v_mark = 2147483647 then
        perform setval(q.waiting, 0);
        perform pg_notify('weir:' || q.no % 64, '');
    end if;
end
$$;

-- weir.mark_waiting(queue_name)
-- Says that the caller is about to wait for messages. LISTEN on the channel it returns, call this, receive once more,
-- and only then wait: the next send notifies the channel when it commits. A send that was under way when the mark was
-- set may not have seen it, and what becomes due notifies nobody, so wait in steps of at most 250 ms.
--
-- Parameters:
--   queue_name  the queue
-- Returns: the name of the channel, which several queues share.
-- Raises: WR001
-- Locks: none; but the transaction of the send that notifies cannot be prepared for two-phase commit.
create or replace function weir.mark_waiting(queue_name text)
returns text
language plpgsql
as $$
declare
    v_channel text;
begin
    if weir_internal.direct(queue_name) then
        return weir_log.mark_waiting(queue_name);
    end if;
    execute 'select ' || weir_internal.call('mark_waiting', queue_name) into v_channel;
    return v_channel;
end
$$;

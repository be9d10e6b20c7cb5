-- weir.queue_function(queue_name, verb)
-- The name of one of a queue's own functions, for drivers that call it without the public function of the same name,
-- which finds it and plans its call each time. Ask once and keep the answer; on 42883 (undefined_function), when the
-- queue was dropped or renamed, forget it and call the public function. EXECUTE on the queue's own function is the
-- right to call it, as it is for the public one. What each takes and returns: docs/tasks/batches.md.
--
-- Parameters:
--   queue_name  the queue
--   verb        send, send_batch, receive, receive_many, ack or ack_many
-- Returns: the name, qualified and quoted, to be written into a statement. The arguments are passed by place.
-- Raises: WR001, WR006
-- Locks: none
create or replace function weir.queue_function(queue_name text, verb text)
returns text
language plpgsql stable
as $$
begin
    if verb is null or verb <> all(array['send', 'send_batch', 'receive', 'receive_many', 'ack', 'ack_many']) then
        raise exception 'a queue has no function % for drivers', coalesce('"' || left(verb, 100) || '"', 'null')
            using errcode = 'WR006', hint = 'Ask for send, send_batch, receive, receive_many, ack or ack_many.';
    end if;
    return weir_internal.queue_function(verb, queue_name);
end
$$;

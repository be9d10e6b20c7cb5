-- weir_internal.queue_function(p_verb, p_queue)
-- The name, ready for EXECUTE, of one of a queue's own functions. It runs with its caller's search_path, to be quick,
-- and so names the schema of what somebody else's function in that path could take the place of.
--
-- Parameters:
--   p_verb   send, receive, ack ...: see weir_internal.rights
--   p_queue  name of the queue
-- Returns: the qualified, quoted name.
-- Raises: WR001
-- Locks: none
create or replace function weir_internal.queue_function(p_verb text, p_queue text)
returns text
language plpgsql stable
as $$
declare
    v_name text := 'weir_internal.' || quote_ident(p_verb || ':' || p_queue);
begin
    if to_regproc(v_name) is null then
        perform weir_internal.fail_unknown(p_queue);
    end if;
    return v_name;
end
$$;

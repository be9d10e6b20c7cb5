-- weir_internal.call(p_verb, p_queue, p_args)
-- The text of a call, ready for EXECUTE, for who is not to call the log main (weir_internal.direct): of the queue's
-- gate, or, for its owner, of the function of its log; of a queue that is moving, of the function moving_<verb>, where
-- there is one: see internal/moving_receive.sql.
--
-- Parameters:
--   p_verb   send, receive, ack ...: see weir_internal.rights
--   p_queue  name of the queue
--   p_args   what follows the queue's name among the arguments, as text
-- Returns: the text.
-- Raises: WR001, 42501
-- Locks: none
create or replace function weir_internal.call(p_verb text, p_queue text, p_args text default '')
returns text
language plpgsql stable
as $$
declare
    v_log text;
    v_moving boolean;
begin
    if not pg_catalog.has_schema_privilege('weir_log', 'usage') then
        return weir_internal.gate(p_verb, p_queue) || '(' || p_args || ')';
    end if;
    select l.schema_name, q.moving_from is not null into v_log, v_moving
    from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no where q.name = p_queue;
    if v_moving and pg_catalog.to_regproc('weir_internal.moving_' || p_verb) is not null then
        v_log := 'weir_internal';
        p_verb := 'moving_' || p_verb;
    end if;
    return pg_catalog.format('%s.%s(%L%s)', coalesce(v_log, 'weir_log'), p_verb, p_queue,
        case when p_args <> '' then ', ' || p_args else '' end);
end
$$;

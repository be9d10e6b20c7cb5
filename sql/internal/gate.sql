-- weir_internal.gate(p_verb, p_queue), weir_internal.fail_gate(p_verb, p_queue)
-- gate: the name, ready for EXECUTE, of one of a queue's gates, for a caller who has the right to it. It runs with its
-- caller's search_path, to be quick, and so names the schema of what somebody else's function in that path could take
-- the place of. fail_gate: says why there is none for the caller.
--
-- Parameters:
--   p_verb   send, receive, ack ...: see weir_internal.rights
--   p_queue  name of the queue
-- Returns: gate: the qualified, quoted name; fail_gate: never.
-- Raises: WR001, 42501
-- Locks: none
create or replace function weir_internal.gate(p_verb text, p_queue text)
returns text
language plpgsql stable
as $$
declare
    v_name text := 'weir_gates.' || pg_catalog.quote_ident(p_verb || ':' || p_queue);
begin
    if pg_catalog.has_function_privilege(pg_catalog.to_regproc(v_name), 'execute') is not true then
        perform weir_internal.fail_gate(p_verb, p_queue);
    end if;
    return v_name;
end
$$;
create or replace function weir_internal.fail_gate(p_verb text, p_queue text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from weir_internal.queues where name = p_queue) then
        perform weir_internal.fail_unknown(p_queue);
    end if;
    raise exception 'permission denied for queue "%": %', p_queue, p_verb
        using errcode = 'insufficient_privilege',
        hint = (select string_agg(format('select weir.grant_%s(%L, role_name)', r.right_name, p_queue), ' or ')
                from weir_internal.rights() r where p_verb = any(r.gates));
end
$$;

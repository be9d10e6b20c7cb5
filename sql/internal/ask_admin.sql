-- weir_internal.ask_admin(p_queue, p_verb, p_args)
-- Calls "admin:<queue>" with the caller's own rights.
--
-- Parameters:
--   p_queue  name of the queue
--   p_verb   see weir_internal.administer
--   p_args   likewise
-- Returns: what weir_internal.administer returns.
-- Raises: WR001, and what the verb raises
-- Locks: those of the verb.
create or replace function weir_internal.ask_admin(p_queue text, p_verb text, p_args jsonb)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_count bigint;
begin
    execute 'select ' || weir_internal.queue_function('admin', p_queue) || '($1, $2)'
    into v_count using p_verb, p_args;
    return v_count;
end
$$;

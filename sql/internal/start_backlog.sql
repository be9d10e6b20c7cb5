-- weir_internal.start_backlog(p_queue), end_backlog(q)
-- start_backlog: makes the sequence that a queue with a backlog_max needs, if it is not there, and sets it so that the
-- next send counts; see log/admit.sql. The caller stores it in queues.backlog_sequence, where it stays when the limit
-- is lifted: a send that is under way may still look at it. end_backlog: drops it with the queue.
--
-- Parameters:
--   p_queue, q  the queue
-- Returns: start_backlog: the sequence; end_backlog: nothing.
-- Raises: none
-- Locks: end_backlog: the sequence.
create or replace function weir_internal.start_backlog(p_queue int)
returns regclass
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name text := format('weir_internal.backlog_%s', p_queue);
begin
    if to_regclass(v_name) is null then
        execute format(
            'create sequence %s increment -1 minvalue -9223372036854775807 maxvalue 9223372036854775806 start 1',
            v_name);
    end if;
    perform setval(v_name, 0);
    return v_name::regclass;
end
$$;
create or replace function weir_internal.end_backlog(q weir_internal.queues)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if q.backlog_sequence is not null then
        execute format('drop sequence %s', q.backlog_sequence);
    end if;
end
$$;

-- weir_internal.direct(p_queue), weir_internal.in_main(p_queue)
-- direct: whether the caller may call the functions of the log main for a queue, which he nearly always may: as its
-- owner, and because the queue is in no other log. It is inlined into what asks, and as long as no other log was made,
-- no queue is looked for. in_main: whether the queue is in no other log, nor moving.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: see above; of a queue that is not there, true.
-- Raises: none
-- Locks: none
create or replace function weir_internal.in_main(p_queue text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return not exists (
        select from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no
        where q.name = p_queue and (l.name <> 'main' or q.moving_from is not null));
end
$$;
create or replace function weir_internal.direct(p_queue text)
returns boolean
language sql
as $$
    select pg_catalog.has_schema_privilege('weir_log', 'usage')
        and (pg_catalog.pg_sequence_last_value('weir_internal.log_numbers') = 1 or weir_internal.in_main(p_queue))
$$;

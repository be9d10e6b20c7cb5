-- pgmq._guard()
-- Keeps a queue of the face where its functions look for it: it can neither be renamed nor moved to another log.
--
-- Returns: trigger
-- Raises: WR006
-- Locks: none
create or replace function pgmq._guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'queue "%" is one of the face pgmq', old.name
        using errcode = 'WR006',
        hint = 'It keeps its name and its log. Drop it with pgmq.drop_queue, and create another.';
end
$$;
create or replace trigger pgmq_guard before update of name, log_no on weir_internal.queues
for each row when (old.name like 'pgmq.%' and (old.name, old.log_no) is distinct from (new.name, new.log_no))
execute function pgmq._guard();

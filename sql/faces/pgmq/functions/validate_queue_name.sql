-- pgmq.validate_queue_name(queue_name)
-- Refuses a name that is too long for the name of a relation.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: P0001
-- Locks: none
create or replace function pgmq.validate_queue_name(queue_name text)
returns void
language plpgsql
as $$
begin
    if length(queue_name) > 47 then
        raise exception 'queue name is too long, maximum length is 47 characters'
            using errcode = 'P0001', hint = 'Use a shorter name.';
    end if;
end
$$;

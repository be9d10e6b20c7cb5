-- pgmq.format_table_name(queue_name, prefix)
-- The name of the relation of a queue.
--
-- Parameters:
--   queue_name  the queue
--   prefix      'q' or 'a'
-- Returns: the prefix, _ and the name, in lower case.
-- Raises: P0001 for a name that no queue can have
-- Locks: none
create or replace function pgmq.format_table_name(queue_name text, prefix text)
returns text
language plpgsql
as $$
begin
    if queue_name ~ '\$|;|--|''' then
        raise exception 'queue name contains invalid characters: $, ;, --, or \'''
            using errcode = 'P0001', hint = 'Use letters, digits, "_", "-" and ".".';
    end if;
    return lower(prefix || '_' || queue_name);
end
$$;

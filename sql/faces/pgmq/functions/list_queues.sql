-- pgmq.list_queues()
-- The queues.
--
-- Returns: the rows of pgmq.meta.
-- Raises: none
-- Locks: none
create or replace function pgmq.list_queues()
returns setof pgmq.queue_record
language plpgsql
as $$
begin
    return query select * from pgmq.meta;
end
$$;

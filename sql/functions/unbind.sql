-- weir.unbind(pattern, queue_name)
-- Removes a binding. What was sent stays in the queue.
--
-- Parameters:
--   pattern     as it was bound
--   queue_name  the queue
-- Returns: whether there was such a binding.
-- Raises: WR001, WR005
-- Locks: none
create or replace function weir.unbind(pattern text, queue_name text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
begin
    perform weir_internal.check_topic('pattern', pattern);
    delete from weir_internal.bindings b where b.queue_no = q.no and b.pattern = unbind.pattern;
    return found;
end
$$;

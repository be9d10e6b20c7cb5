-- weir.list_bindings()
-- Which topics go to which queues.
--
-- Returns: one row a binding, by pattern and queue.
-- Raises: none
-- Locks: none
create or replace function weir.list_bindings()
returns table (pattern text, queue_name text, created_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select b.pattern, q.name, b.created_at
    from weir_internal.bindings b join weir_internal.queues q on q.no = b.queue_no
    order by b.pattern, q.name
$$;

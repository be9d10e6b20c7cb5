-- pgmq.detach_archive(queue_name)
-- Does nothing, as in PGMQ: a WARNING says so.
--
-- Parameters:
--   queue_name  the queue
-- Returns: nothing.
-- Raises: P0001
-- Locks: none
create or replace function pgmq.detach_archive(queue_name text)
returns void
language plpgsql
as $$
declare
    v_archive text := pgmq.format_table_name(queue_name, 'a');
begin
    raise warning '%', 'detach_archive(queue_name) is deprecated and is a no-op. It will be removed in PGMQ v2.0. '
        'Archive tables are no longer member objects.';
end
$$;

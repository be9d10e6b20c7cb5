-- weir_internal.configure_group(queue_name, group_name, max_attempts, backoff_min, backoff_max, patience)
-- Changes a group's settings.
--
-- Parameters:
--   queue_name    the queue
--   group_name    the group
--   max_attempts  null = as it is
--   backoff_min   null = as it is
--   backoff_max   null = as it is
--   patience      null = as it is
-- Returns: nothing.
-- Raises: WR001, WR003, WR006
-- Locks: the queue's administration lock, until the transaction ends.
create or replace function weir_internal.configure_group(
    queue_name text, group_name text, max_attempts int, backoff_min interval, backoff_max interval, patience interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups;
begin
    perform pg_advisory_xact_lock(weir_internal.lock_class(q.no), -1);
    g := weir_internal.find_group(q, group_name);
    g.max_attempts := coalesce($3, g.max_attempts);
    g.backoff_min := coalesce($4, g.backoff_min);
    g.backoff_max := coalesce($5, g.backoff_max);
    g.patience := coalesce($6, g.patience);
    perform weir_internal.check_group_settings(g);
    update weir_internal.groups w
    set max_attempts = g.max_attempts, backoff_min = g.backoff_min, backoff_max = g.backoff_max, patience = g.patience
    where w.queue_no = q.no and w.no = g.no;
end
$$;

-- weir_internal.set_paused(p_queue, p_group, p_paused)
-- Pauses or resumes a group, or a queue. A queue's pause is noted with each of its groups, so that receive finds it in
-- the row that it reads anyway.
--
-- Parameters:
--   p_queue   name of the queue
--   p_group   name of the group; null = the whole queue
--   p_paused  true = pause
-- Returns: nothing.
-- Raises: WR001, WR003
-- Locks: the queue's administration, until the transaction ends.
create or replace function weir_internal.set_paused(p_queue text, p_group text, p_paused boolean)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.lock_queue(p_queue);
    g weir_internal.groups;
begin
    if p_group is null then
        update weir_internal.queues set paused = p_paused where no = q.no and paused <> p_paused;
        update weir_internal.groups set queue_paused = p_paused where queue_no = q.no and queue_paused <> p_paused;
    else
        g := weir_internal.find_group(q, p_group);
        update weir_internal.groups set paused = p_paused
        where queue_no = q.no and no = g.no and paused <> p_paused;
    end if;
end
$$;

-- weir_log.mark_waiting(p_queue)
-- Marks that somebody waits for messages of a queue: see weir_log.wake. A message sent before may be there already:
-- look again before you wait.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: the channel to LISTEN on.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_log.mark_waiting(p_queue text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    v_mark bigint := coalesce(pg_sequence_last_value(q.waiting), 0); -- null after a crash
begin
    if v_mark = 0 then
        perform setval(q.waiting, q.no);
    elsif v_mark <> q.no and v_mark <> 2147483647 then
        perform setval(q.waiting, 2147483647);
    end if;
    return 'weir:' || q.no % 64;
end
$$;

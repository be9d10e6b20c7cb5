-- weir.move_queue(queue_name, log_name)
-- Moves a queue to another log of the database while it is in use: one that lags by much, so that it does not keep the
-- space that others have finished with, or one that shall have other settings of its log. New messages go to the new
-- log from the commit on; each group finishes first what the old one has, and a group with an order or limits also what
-- it holds of that. Claims, dead letters, keys that count for dedup, jobs, settings and rights stay as they are. When
-- the old log has nothing left of the queue, maintain ends the move; until then list_queues shows `moving_from`.
--
-- Parameters:
--   queue_name  the queue
--   log_name    the log, see weir.create_log; the one that the queue is in: nothing is done
-- Returns: nothing.
-- Raises: WR001, WR006, WR012, WR019, WR023
-- Locks: the queue's administration, and with gates the lock of rights, until the transaction ends. Senders and
-- consumers are not held up.
create or replace function weir.move_queue(queue_name text, log_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    perform weir_internal.ask_admin(queue_name, 'move_queue', jsonb_build_object('log_name', log_name));
end
$$;

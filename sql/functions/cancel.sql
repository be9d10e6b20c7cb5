-- weir.cancel(queue_name, id, reason)
-- Cancels a job. One that waits, also for its time or for another try, will never run. The worker of one that is
-- running learns of it from progress or cancelled, and if it fails there is no other try.
--
-- Parameters:
--   queue_name  the queue
--   id          the job; it need not be tracked
--   reason      why; null = no reason
-- Returns: 'cancelled': it will not run; 'running': it is running, its worker is told; 'ended': it has ended or was
-- never there, and nothing changed.
-- Raises: WR001, WR006, WR012
-- Locks: the queue's administration lock and the locks of two lanes of each group, until the transaction ends: it waits
-- for transactions that are receiving there.
create or replace function weir.cancel(queue_name text, id bigint, reason text default null)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return (array['ended', 'cancelled', 'running'])[1 + weir_internal.ask_admin(queue_name, 'cancel',
        jsonb_build_object('id', id, 'reason', reason))];
end
$$;

-- weir_log.waits_for_leaving(q, g)
-- Whether a group with an order or limits has something left in the log from which its queue is moving to this one.
-- Then it claims nothing new here. The queue is read anew: who was sent here may have been held up on the way, and the
-- queue have moved away and begun to move back since. It is asked after the snapshot was taken by which messages are
-- read, so that who sent one of them had seen what is seen here.
--
-- Parameters:
--   q, g  queue and group
-- Returns: see above.
-- Raises: none
-- Locks: as weir_log.has_left.
create or replace function weir_log.waits_for_leaving(q weir_internal.queues, g weir_internal.groups)
returns boolean
language plpgsql
as $$
declare
    v_left boolean;
begin
    if pg_sequence_last_value('weir_internal.log_numbers') = 1 then
        return false;
    end if;
    select * into q from weir_internal.queues
    where no = q.no and moving_from is not null
        and origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    if found then
        execute format('select %s.has_left($1, $2)', weir_internal.moving_logs(q, 1)) into v_left using q, g.name;
    end if;
    return coalesce(v_left, false);
end
$$;

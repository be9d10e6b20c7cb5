-- weir_log.find_queue(p_queue), weir_log.find_home(p_queue), weir_log.fail_queue(p_queue)
-- A queue of this log by its name. A queue that came here in a dump is not found: `origin` holds the OIDs of two of the
-- log's relations, which pg_upgrade, a standby and CREATE DATABASE ... TEMPLATE keep, as they keep transaction ids.
-- pg_restore makes the two in another order than Weir, so that both OIDs cannot be the same again by chance.
-- A queue that is moving is found in both of its logs, and so is one that has moved away since somebody was sent here,
-- which has nothing here. find_home: for who sends; of a queue that is leaving this log the row is null: he has been
-- led here by what was so before it began to move, and calls anew.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: its row; fail_queue: only when the queue is in another log.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_log.find_queue(p_queue text)
returns weir_internal.queues
language plpgsql
as $$
declare
    q weir_internal.queues;
begin
    select * into q from weir_internal.queues
    where name = p_queue and (origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]
        or moving_origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]);
    if not found then
        perform weir_log.fail_queue(p_queue);
        select * into q from weir_internal.queues where name = p_queue;
        if not found then
            perform weir_internal.fail_unknown(p_queue); -- renamed or dropped since
        end if;
    end if;
    return q;
end
$$;
create or replace function weir_log.find_home(p_queue text)
returns weir_internal.queues
language plpgsql
as $$
declare
    q weir_internal.queues;
begin
    select * into q from weir_internal.queues
    where name = p_queue and origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid];
    if not found then
        perform weir_log.fail_queue(p_queue);
        perform weir_internal.fail_unknown(p_queue)
        where not exists (
            select from weir_internal.queues w
            where w.name = p_queue
                and w.moving_origin = array['weir_log.log_0'::regclass::oid, 'weir_log.log_ring'::regclass::oid]);
    end if;
    return q;
end
$$;
create or replace function weir_log.fail_queue(p_queue text)
returns void
language plpgsql
as $$
begin
    if exists (select from weir_internal.queues q join weir_internal.logs l on l.no = q.log_no
               where q.name = p_queue and q.origin is distinct from weir_internal.origin_of(l.schema_name)) then
        raise exception 'queue "%" came here in a dump', p_queue
            using errcode = 'WR019', hint = 'select weir.adopt()';
    end if;
    perform weir_internal.fail_unknown(p_queue)
    where not exists (select from weir_internal.queues q where q.name = p_queue);
end
$$;

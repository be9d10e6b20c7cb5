-- weir_log.see_to_notes(q, g, p_now)
-- Looks again at key queues whose head left while a receive may have been parking messages behind it: see step_up. With
-- the locks of its lanes, and of lane -1, which the caller holds, nobody is.
-- try_lanes: tries to lock the lanes of a key queue.
--
-- Parameters:
--   q, g   queue and group
--   p_now  the time
--   p_key_queue  the key queue
-- Returns: nothing.
-- Raises: none
-- Locks: the locks of the lanes of up to 1,000 key queues, tried, until the transaction ends; ROW EXCLUSIVE on
-- `parked`.
create or replace function weir_log.see_to_notes(
    q weir_internal.queues, g weir_internal.groups, p_now timestamptz)
returns void
language plpgsql
as $$
declare
    n record;
    h record;
begin
    for n in
        select distinct t.key_queue from (
            select p.key_queue from weir_log.parked p
            where p.group_no = -g.no and p.due_at <= p_now and p.holder is null order by p.due_at limit 1000) t
    loop
        continue when not weir_log.try_lanes(q, g, n.key_queue);
        delete from weir_log.parked p
        where p.ctid = any(array(
            select w.ctid from weir_log.parked w
            where w.group_no = -g.no and w.key_queue = n.key_queue order by w.no limit 10000));
        select p.ctid, p.due_at, p.holder into h from weir_log.parked p
        where p.group_no = g.no and p.key_queue = n.key_queue order by p.no limit 1 for update skip locked;
        if h.ctid is not null and h.due_at is null and h.holder is null then
            update weir_log.parked p set due_at = p_now where p.ctid = h.ctid;
        end if;
    end loop;
end
$$;
create or replace function weir_log.try_lanes(q weir_internal.queues, g weir_internal.groups, p_key_queue text)
returns boolean
language plpgsql
as $$
declare
    v_lane int;
begin
    foreach v_lane in array weir_log.lanes_of(q, p_key_queue) loop
        if not pg_try_advisory_xact_lock(weir_internal.lane_lock(g.no, v_lane, 1)) then
            return false;
        end if;
    end loop;
    return true;
end
$$;

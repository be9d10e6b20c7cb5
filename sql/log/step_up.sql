-- weir_log.step_up(g, p_key_queues, p_lanes, p_claimed)
-- After heads left their key queues, tells of what is at the head now that it may be delivered: it stood behind others,
-- and so has no time.
--
-- A receive may just be parking messages behind what left, which nothing here can see, and not see yet that it left.
-- So where none is to be seen it leaves a note, a row of the group -g.no, about which the next receive looks again
-- while no other claims in the lane: see weir_log.see_to_notes. And a message that another transaction finishes at this
-- moment may seem to be at the head still: then the next behind all of the claim steps up.
--
-- Parameters:
--   g             the ordered group
--   p_key_queues  key queues
--   p_lanes       the lane of each
--   p_claimed     what the claim held of which messages left; '{}' where nobody else can have it
-- Returns: nothing.
-- Raises: none
-- Locks: the rows that step up, those that are locked passed over; ROW EXCLUSIVE on `parked`.
create or replace function weir_log.step_up(
    g weir_internal.groups, p_key_queues text[], p_lanes int[], p_claimed int8multirange)
returns void
language plpgsql
as $$
declare
    l record;
    h record;
    v_row tid; -- by its place: the plan of an update may begin at another index
    v_now timestamptz := weir_internal.clock();
begin
    for l in
        select u.key_queue, min(u.lane) as lane from unnest(p_key_queues, p_lanes) u (key_queue, lane)
        group by u.key_queue
    loop
        select p.due_at, p.id into h from weir_log.parked p
        where p.group_no = g.no and p.key_queue = l.key_queue order by p.no limit 1;
        v_row := null;
        if h.id is not null then
            continue when h.due_at is not null and not h.id <@ p_claimed;
            select p.ctid into v_row from weir_log.parked p
            where p.group_no = g.no and p.key_queue = l.key_queue and p.due_at is null and p.holder is null
                and not p.id <@ p_claimed
            order by p.no limit 1 for update skip locked;
        end if;
        if v_row is null then
            insert into weir_log.parked (queue_no, group_no, key_queue, no, lane, id, due_at)
            values (g.queue_no, -g.no, l.key_queue, 0, l.lane, 0, v_now);
        else
            update weir_log.parked p set due_at = v_now where p.ctid = v_row;
        end if;
    end loop;
    perform weir_log.wake(q) from weir_internal.queues q
    where q.no = g.queue_no and pg_sequence_last_value(q.waiting) > 0;
end
$$;

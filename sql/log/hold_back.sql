-- weir_log.hold_back(q, g, c, o, p_all), weir_log.is_parked(g, p_lane)
-- Takes out of a record that is about to be claimed what must wait for its key, and parks it: where messages of the key
-- stand in its key queue, behind them; where another claim of the lane holds some, these stand there first, in that
-- claim's name. If that claim is being settled at this moment, the message asks again when its turn comes: it is parked
-- as what was delayed is. The caller holds the lane's lock, and has trimmed the cursor.
--
-- What is in flight was read before the key queues are looked at: who gives a message back parks it in the transaction
-- in which it leaves its claim, so it is seen in one place or the other.
--
-- Parameters:
--   q, g    queue and group
--   c       the lane's cursor, as weir_log.trim_inflight returned it
--   o       messages of a lane of keys
--   p_all   each asks when its turn comes whether another claim holds its key: see weir_log.is_overtaken
--   p_lane  a lane
-- Returns: hold_back: what may be claimed of the record, n perhaps 0. is_parked: whether messages of the lane stand in
-- key queues.
-- Raises: WR016
-- Locks: the locks of claims that hold the same keys, tried, until the transaction ends; ROW EXCLUSIVE on `parked`.
create or replace function weir_log.hold_back(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, o weir.message_record, p_all boolean)
returns weir.message_record
language plpgsql
as $$
declare
    v_queues text[] := '{}'; -- key queues of the record that may not be free
    v_wait record;
begin
    if p_all then
        v_queues := array(select distinct weir_internal.line_of(u, c.lane) from unnest(o.keys) u);
        perform weir_log.park(q, g, c.lane, weir_log.messages_with(o, c.lane, v_queues), null, null, true);
        o.n := 0;
        return o;
    elsif o.n = 1 then
        if weir_internal.hash_of(o.keys[1], c.lane) = any(c.keys) or (
                select true from weir_log.parked p
                where p.group_no = g.no and p.key_queue = weir_internal.line_of(o.keys[1], c.lane)
                order by p.no limit 1) then -- the order tells the planner which index
            v_queues := array[weir_internal.line_of(o.keys[1], c.lane)];
        end if;
    elsif c.keys <> '{}' or exists (select from weir_log.parked p where p.group_no = g.no) then
        v_queues := array(
            select weir_internal.line_of(k.key, c.lane)
            from (select distinct u as key from unnest(o.keys) u) k
            where weir_internal.hash_of(k.key, c.lane) in (select unnest(c.keys))
                or (select true from weir_log.parked p
                    where p.group_no = g.no and p.key_queue = weir_internal.line_of(k.key, c.lane)
                    order by p.no limit 1));
    end if;
    if v_queues = '{}' then
        return o;
    end if;
    v_wait := weir_log.keys_that_wait(q, g, c, v_queues);
    if v_wait.behind <> '{}' then
        perform weir_log.park(q, g, c.lane, weir_log.messages_with(o, c.lane, v_wait.behind), null, null, false);
    end if;
    if v_wait.late <> '{}' then
        perform weir_log.park(q, g, c.lane, weir_log.messages_with(o, c.lane, v_wait.late), null, null, true);
    end if;
    if v_wait.behind || v_wait.late <> '{}' then
        return weir_log.messages_without(o, c.lane, v_wait.behind || v_wait.late);
    end if;
    return o;
end
$$;
create or replace function weir_log.is_parked(g weir_internal.groups, p_lane int)
returns boolean
language plpgsql
as $$
begin
    return exists (select from weir_log.parked p where p.group_no = g.no and p.lane = p_lane);
end
$$;

-- receive
-- Template of weir_internal."receive:<queue>": what is due for the group first, then one lane at random and that of
-- the newest message, and only when that does not fill the request the lanes that the probe finds. A lane another
-- transaction is claiming in is passed over. One call in 32 probes at once, and takes what is due last, so that an
-- expired lease never waits behind a backlog, nor a lane behind what is due. What was cancelled is taken out in the
-- end. EXECUTE on it is part of the right to consume.
--
-- Parameters:
--   p_group  name of the group
--   p_max    1 to 10,000 messages
--   p_lease  1 ms to 7 days
-- Returns: records under one or more claims, p_max messages at most.
-- Raises: WR003, WR006, WR012
-- Locks: the advisory lock of each lane claimed in, until the transaction ends; ACCESS SHARE on segments, ROW EXCLUSIVE
-- on the claim log.
insert into weir_internal.templates (name, body) values ('receive', $template$
create or replace function weir_internal."receive:{name}"(p_group text, p_max int, p_lease interval)
returns weir.message_record[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
    g weir_internal.groups;
    o weir.message_record;
    v_out weir.message_record[] := '{}';
    v_had int; -- records before a claim
    v_now timestamptz := weir_internal.clock();
    v_last int := -- the lane of the newest message, if it has no key
        weir_internal.spread(coalesce(pg_sequence_last_value('weir_internal.{q}_ids'), 0), {lanes});
    v_newest bigint := pg_sequence_last_value('weir_internal.{q}_claim_ids'); -- before the group is read
    v_first int := floor(random() * {lanes});
    v_lanes int[] := case when v_first = v_last then array[v_first] else array[v_first, v_last] end;
    v_due_last boolean := random() < 0.03125;
    v_probed boolean := {priorities} > 1 or v_due_last;
    v_lane int;
    v_expired boolean; -- only what has expired is wanted of the lane
    v_released boolean := false; -- ordered: what had expired stands in its lines
    v_slot smallint;
    c weir_internal.claim;
    v_want int := p_max;
    v_due boolean; -- what is due is looked at, not the lanes
    --{ {throttled}
    t weir_internal.claim; -- the group's turn; slot null: it needs none
    --}
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    select * into g from weir_internal.groups where queue_no = {no} and name = p_group;
    if g.no is null or g.paused or g.queue_paused or g.limited and {throttled} = 0
        or p_max is null or p_max not between 1 and 10000 or p_lease is null
        or p_lease not between interval '1 millisecond' and interval '7 days'
        or current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        perform weir_internal.check_receive('{name}', p_group, g.no, p_max, p_lease);
        return v_out; -- paused, or this is the function as it was without limits
    end if;
    --{ {throttled}
    if g.limited then
        v_lanes := weir_internal.{q}_probe(g, v_first, v_now);
        v_probed := true;
        if cardinality(v_lanes) = 0 and not weir_internal.{q}_has_aside(g, v_now) then
            return v_out;
        end if;
        t := weir_internal.{q}_turn(g.no);
        select * into g from weir_internal.groups where queue_no = {no} and no = g.no and id = g.id;
        if not found or t.slot is null then
            return v_out; -- dropped, or held back
        end if;
        v_want := least(v_want, t.n);
    end if;
    --}
    if g.ttl > interval '0' then
        g := weir_internal.apply_ttl(g);
    end if;
    --{ {keyed}
    if g.keyed then
        t.n := v_want;
        return weir_internal.{q}_take_turns(g, t, p_lease);
    end if;
    --}
    foreach v_due in array array[not v_due_last, v_due_last] loop
        exit when v_want <= 0;
        if v_due then
            if pg_sequence_last_value('weir_internal.{q}_later_clock') > 0 then
                for o in select * from weir_internal.{q}_claim_due(g, v_want, p_lease) loop
                    v_want := v_want - o.n;
                    v_out := v_out || o;
                end loop;
            end if;
            if g.ordered and v_want > 0 and exists (
                select from weir_internal.{q}_parked
                where group_id in (g.id, -g.id) and due_at <= v_now and holder is null) then
                for o in select * from weir_internal.{q}_claim_parked(g, v_want, p_lease) loop
                    v_want := v_want - o.n;
                    v_out := v_out || o;
                end loop;
            end if;
        else
            if not g.ordered and v_want = 1 and not v_probed then
                o := weir_internal.{q}_claim_one(g, v_lanes, p_lease, v_now, v_newest);
                if o.n = 1 then
                    v_want := 0;
                    v_out := v_out || o;
                end if;
                v_probed := o.n is not distinct from 0;
            end if;
            if v_probed then
                v_lanes := weir_internal.{q}_probe(g, v_first, v_now);
            end if;
            while v_want > 0 loop
                foreach v_lane in array v_lanes loop
                    v_expired := v_lane < 0;
                    v_lane := case when v_expired then -1 - v_lane else v_lane end;
                    v_slot := g.no * ({lanes} + 1) + v_lane;
                    continue when not v_probed and not weir_internal.{q}_has_new(v_slot, v_lane, v_now);
                    continue when not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot);
                    c := weir_internal.{q}_cursor(v_slot);
                    if c.n = 0 or c.id >> 14 > v_newest then -- a seek may have moved the lane since the group was read
                        select * into g from weir_internal.groups where queue_no = {no} and no = g.no and id = g.id;
                        if not found or g.limited
                            --{ {throttled}
                            and t.slot is null
                            --}
                        then
                            return v_out; -- dropped, or limited since
                        elsif g.ttl > interval '0' then
                            g := weir_internal.apply_ttl(g);
                        end if;
                    end if;
                    if c.next_expiry <= v_now then
                        for o in select * from weir_internal.redeliver({no}, g, c, v_want, p_lease, v_now) loop
                            v_want := v_want - o.n;
                            v_out := v_out || o;
                        end loop;
                        c := weir_internal.{q}_fresh(v_slot, v_now);
                        v_released := g.ordered;
                    end if;
                    exit when v_want <= 0;
                    continue when v_expired;
                    if g.ordered then
                        c.low := weir_internal.{q}_low(v_slot, c.low, c.id + 1);
                        if c.low > c.id then -- all is finished, which is quicker to see than what is not
                            c.low := c.id;
                        else
                            c.low := weir_internal.{q}_unoccupied(g, c, v_now);
                        end if;
                        continue when c.low is null;
                    end if;
                    if v_lane < {lanes} then
                        v_had := cardinality(v_out);
                        if v_had = 0 then -- payloads are copied whenever an array is assigned, but not from a call
                            v_out := weir_internal.{q}_claim(c, g, v_lane, v_want, p_lease);
                        else
                            v_out := v_out || weir_internal.{q}_claim(c, g, v_lane, v_want, p_lease);
                        end if;
                        for i in v_had + 1 .. cardinality(v_out) loop
                            v_want := v_want - v_out[i].n;
                        end loop;
                    end if;
                    exit when v_want <= 0;
                end loop;
                exit when v_probed or v_want <= 0;
                v_probed := true;
                v_lanes := weir_internal.{q}_probe(g, v_first, v_now);
            end loop;
        end if;
    end loop;
    if v_released and v_want > 0 then
        for o in select * from weir_internal.{q}_claim_parked(g, v_want, p_lease) loop
            v_out := v_out || o;
        end loop;
    end if;
    if pg_sequence_last_value('weir_internal.{q}_cancels') > 0 and cardinality(v_out) > 0 then
        v_out := weir_internal.drop_cancelled({no}, v_out);
        if cardinality(v_out) = 0 then -- all were cancelled: there may be others
            return weir_internal."receive:{name}"(p_group, p_max, p_lease);
        end if;
    end if;
    --{ {throttled}
    if t.slot is not null and cardinality(v_out) > 0 then
        perform weir_internal.{q}_count(g, t, v_out);
    end if;
    --}
    return v_out;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

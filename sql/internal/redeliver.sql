-- weir_internal.redeliver(p_queue, g, c, p_max, p_lease, p_now)
-- Leases again what expired in one slot. A message past its attempts becomes a dead letter instead, also when it never
-- was negatively acknowledged: each delivery counts, so what kills its consumer does not live forever. What does not
-- fit into p_max stays behind as a claim that has expired already. Of an ordered group, and of one with lines of keys,
-- all of it goes into its lines. The caller holds the lane's lock.
--
-- Parameters:
--   p_queue  queue number
--   g        the group
--   c        the slot's newest claim
--   p_max    messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: one record for each claim that had expired; none of an ordered group, nor with lines of keys.
-- Raises: WR016
-- Locks: the advisory locks of the expired claims, tried, until the transaction ends.
create or replace function weir_internal.redeliver(
    p_queue int, g weir_internal.groups, c weir_internal.claim, p_max int, p_lease interval, p_now timestamptz)
returns setof weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    e weir_internal.claim;
    d weir_internal.claim;
    o weir.message_record;
    s record;
    v_dead weir_internal.later_row[];
    v_ids int8multirange;
    v_want int := p_max;
    v_most int;
    v_changed boolean := false;
begin
    select * into q from weir_internal.queues where no = p_queue;
    for e in execute format('select * from weir_internal.q%s_unfinished($1, $2, $3, $4)', p_queue)
        using c.slot, c.low, p_now, p_max
    loop
        exit when v_want <= 0;
        if g.ordered then -- their lines deliver them again
            if e.src is null then
                v_changed := weir_internal.park_claim(q, g, e, false) or v_changed;
            else
                v_changed := weir_internal.release_parked(q, g, e) or v_changed;
            end if;
            continue;
        end if;
        continue when not pg_try_advisory_xact_lock(weir_internal.claim_lock(p_queue, e.id));
        select * into s from weir_internal.claim_state(p_queue, e.id);
        e := s.c;
        e.ids := e.ids - s.done;
        continue when s.taken or isempty(e.ids) or e.deadline > p_now;
        v_changed := true;
        d := null;
        d.slot := e.slot;
        d.what := 2;
        d.id := e.id;
        d.n := weir_internal.count_ids(e.ids);
        d.finished := false;
        execute format('select weir_internal.q%s_put($1)', p_queue) using d;

        select array_agg(row(null, null, m.id, null, m.attempts + e.attempt, m.key, m.payload, m.headers,
                             m.enqueued_at, null)::weir_internal.later_row)
        into v_dead
        from weir_internal.claim_messages(q, e, e.ids) m where m.attempts + e.attempt >= g.max_attempts;
        perform weir_internal.bury(q, g.no, v_dead, 'the lease expired');
        v_ids := coalesce((select range_agg(int8range(m.id, m.id + 1)) from unnest(v_dead) m), '{}');
        e.ids := e.ids - v_ids;

        c.src := coalesce(e.src,
            row(e.prev, e.cur, e.seg, e.from_txid, e.from_pos, e.txid, e.pos)::weir_internal.claim_range);
        v_most := case when g.keyed then 2147483647 else v_want end;
        select 0, count(*), (array_agg(m.id))[1], array_agg(m.id), 1, array_agg(m.attempts + e.attempt + 1),
            case when count(m.key) > 0 then array_agg(m.key) end, array_agg(m.payload),
            case when count(m.headers) > 0 then array_agg(m.headers) end, min(m.enqueued_at), array_agg(m.enqueued_at)
        into o.claim_id, o.n, o.first_id, o.ids, o.attempt, o.attempts, o.keys, o.payloads, o.headers,
            o.enqueued_at, o.enqueued_times
        from (select * from weir_internal.claim_messages(q, e, e.ids) limit v_most) m;
        if coalesce(cardinality(v_dead), 0) + o.n < least(v_most, d.n) then
            perform weir_internal.fail_missing(q.name, e.id, e.ids);
        end if;
        if o.n > 0 and g.keyed then -- they take their turn
            execute format('select weir_internal.q%s_set_aside($1, $2)', p_queue) using g, o;
        elsif o.n > 0 then
            v_ids := (select range_agg(int8range(i, i + 1)) from unnest(o.ids) i);
            c := weir_internal.lease_again(p_queue, c, v_ids, e.attempt + 1, weir_internal.clock() + p_lease);
            o.claim_id := c.id;
            v_want := v_want - o.n;
            return next o;
            if v_ids <> e.ids then
                c := weir_internal.lease_again(p_queue, c, e.ids - v_ids, e.attempt, '-infinity');
            end if;
        end if;
    end loop;
    if v_changed and v_want > 0 then
        execute format('select weir_internal.q%s_checkpoint($1)', p_queue) using c;
    end if;
end
$$;

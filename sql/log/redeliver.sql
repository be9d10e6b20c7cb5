-- weir_log.redeliver(q, g, c, p_claim, p_want, p_lease, p_now)
-- Leases again what expired with one cursor. A message past its attempts becomes a dead letter instead, also when it
-- never was negatively acknowledged: each delivery counts, so what kills its consumer does not live forever. What does
-- not fit into p_want stays behind as a claim that has expired already. Of an ordered group, and of one with key
-- queues, all of it goes there. The caller holds the cursor's lock.
--
-- Parameters:
--   q, g     queue and group
--   c        the cursor
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
--   p_now    time against which leases expire
-- Returns: one record for each claim that had expired; none of an ordered group, nor with key queues.
-- Raises: WR016
-- Locks: the advisory locks of the expired claims, tried, until the transaction ends.
create or replace function weir_log.redeliver(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_claim bigint, p_want int, p_lease interval,
    p_now timestamptz)
returns weir.message_record[]
language plpgsql
as $$
declare
    e weir_internal.claim;
    d weir_internal.claim;
    s record;
    o weir.message_record;
    v_out weir.message_record[] := '{}';
    v_messages weir_internal.delayed_row[];
    v_again weir_internal.delayed_row[];
    v_left int8multirange;
begin
    for e in select * from weir_log.unfinished(g.no, c.lane, c.stripe, c.low, p_now, p_want) loop
        exit when p_want <= 0;
        continue when not pg_try_advisory_xact_lock(weir_internal.claim_lock(e.claim));
        s := weir_log.claim_state(e.claim);
        e.ids := e.ids - s.done - s.taken;
        continue when isempty(e.ids) or s.deadline > p_now;
        d := null;
        d.kind := 'x';
        d.claim := e.claim;
        d.claimed_at := p_now;
        d.ids := e.ids;
        d.n := weir_internal.count_ids(e.ids);
        perform weir_log.append_claim(d);
        v_messages := weir_log.messages_of(q, array[e], e.ids, 0, 'the lease expired');
        perform weir_log.bury(q, g,
            array(select m from unnest(v_messages) m where (m).attempts >= g.max_attempts), 'the lease expired');
        v_again := array(select m from unnest(v_messages) m where (m).attempts < g.max_attempts);
        if g.ordered and not g.keyed then -- also what is dead leaves its key queue
            perform weir_log.queue_again(q, g, e, v_again, s.parked);
            continue;
        end if;
        continue when cardinality(v_again) = 0;
        if g.keyed then
            perform weir_log.set_aside_again(q, g, v_again);
            continue;
        end if;
        c.src := coalesce(e.src, row(e.seg, e.lane, e.from_txid, e.from_pos, e.txid, e.pos)::weir_internal.source);
        o := weir_internal.record_of(v_again[:p_want]);
        c.id := nextval('weir_internal.claim_numbers');
        c.claim := coalesce(p_claim, c.id);
        c.ids := weir_internal.ids_of(o);
        c.n := o.n;
        perform weir_log.lease(g, c, e.attempt + 1, weir_internal.clock() + p_lease, null);
        o.claim_id := c.claim;
        p_claim := c.claim;
        p_want := p_want - o.n;
        v_out := array_append(v_out, o);
        v_left := (select range_agg(int8range(m.id, m.id + 1)) from unnest(v_again) m) - c.ids;
        if not isempty(v_left) then -- for whoever comes next
            c.id := nextval('weir_internal.claim_numbers');
            c.claim := c.id;
            c.ids := v_left;
            c.n := weir_internal.count_ids(v_left);
            perform weir_log.lease(g, c, e.attempt, '-infinity', null);
        end if;
    end loop;
    return v_out;
end
$$;

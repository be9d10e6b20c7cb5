-- weir_log.queue_claimed(q, g, p_lane, p_claim, p_key_queues), weir_log.mark_parked(p_claim)
-- Has what a claim of a lane holds of some key queues stand in them, in its consumer's hands, so that others can stand
-- behind it. mark_parked notes that an ack has to look there. The caller holds the lane's lock.
--
-- Parameters:
--   q, g          queue and group
--   p_lane        the lane
--   p_claim       the claim
--   p_key_queues  key queues
-- Returns: those of the key queues that the claim holds messages of; null: the claim is being settled at this moment.
-- Raises: WR016
-- Locks: the claim's advisory lock, tried, until the transaction ends; ROW EXCLUSIVE on `parked` and the claim log.
create or replace function weir_log.queue_claimed(
    q weir_internal.queues, g weir_internal.groups, p_lane int, p_claim bigint, p_key_queues text[])
returns text[]
language plpgsql
as $$
declare
    s record;
    e weir_internal.claim;
    v_messages weir_internal.delayed_row[];
    v_standing int8multirange;
    v_out text[] := '{}';
begin
    if not pg_try_advisory_xact_lock(weir_internal.claim_lock(p_claim)) then
        return null;
    end if;
    s := weir_log.claim_state(p_claim);
    foreach e in array coalesce(s.parts, '{}') loop
        e.ids := e.ids - s.done - s.taken;
        continue when e.lane <> p_lane or isempty(e.ids);
        v_messages := array(
            select m from unnest(weir_log.messages_of(q, array[e], e.ids, 0, null)) m
            where weir_internal.line_of((m).key, p_lane) in (select unnest(p_key_queues)));
        v_out := v_out || array(select distinct weir_internal.line_of(m.key, p_lane) from unnest(v_messages) m);
        if s.parked then
            v_standing := (
                select range_agg(int8range(m.id, m.id + 1)) from unnest(v_messages) m
                where (select true from weir_log.parked p where p.group_no = g.no and p.id = m.id limit 1));
            v_messages := array(
                select m from unnest(v_messages) m where ((m).id <@ v_standing) is not true);
        end if;
        if cardinality(v_messages) > 0 then
            perform weir_log.park(q, g, p_lane, v_messages, e.id, p_claim, false);
            if not s.parked then
                perform weir_log.mark_parked(p_claim);
                s.parked := true;
            end if;
        end if;
    end loop;
    return v_out;
end
$$;
create or replace function weir_log.mark_parked(p_claim bigint)
returns void
language plpgsql
as $$
declare
    d weir_internal.claim;
begin
    d.kind := 'p';
    d.claim := p_claim;
    perform weir_log.append_claim(d);
end
$$;

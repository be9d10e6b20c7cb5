-- weir_log.settle_messages(q, g, p_parts, p_ids, p_left, p_parked, p_verb, p_delay, p_reason)
-- Settles messages of a claim that is locked and live.
--
-- Parameters:
--   q, g      queue and group
--   p_parts   the claim's rows
--   p_ids     the messages, none settled yet
--   p_left    all that is left of the claim
--   p_parked  messages of it stand in key queues
--   p_verb    'ack', 'nack', 'release' or 'reject'
--   p_delay   nack, release: null = the group's backoff
--   p_reason  kept with a dead letter
-- Returns: how many messages were settled.
-- Raises: WR006, WR010, WR016
-- Locks: ROW EXCLUSIVE on the claim log, `delayed`, `parked`, the dead letters.
create or replace function weir_log.settle_messages(
    q weir_internal.queues, g weir_internal.groups, p_parts weir_internal.claim[], p_ids int8multirange,
    p_left int8multirange, p_parked boolean, p_verb text, p_delay interval, p_reason text)
returns int
language plpgsql
as $$
declare
    d weir_internal.claim;
    v_settled int8multirange := p_ids; -- with what an ordered group's nack takes along
    v_messages weir_internal.delayed_row[];
    v_dead weir_internal.delayed_row[];
    v_again weir_internal.delayed_row[];
begin
    if p_verb <> 'ack' or p_parked then
        -- who drops the group or its queue waits, or was first: nothing is given back to no group, no note left to it
        perform pg_advisory_xact_lock_shared(weir_internal.settle_lock(g.no));
        if not exists (select from weir_internal.groups where no = g.no) then
            raise exception 'the group of claim % was dropped', (p_parts[1]).claim
                using errcode = 'WR010', hint = 'Nothing is left to do: its messages are no one''s any more.';
        end if;
    end if;
    if p_verb <> 'ack' then
        v_messages := weir_log.messages_of(
            q, p_parts, p_ids, case when p_verb = 'release' then -1 else 0 end, p_reason);
        v_dead := array(select m from unnest(v_messages) m where p_verb = 'reject' or (m).attempts >= g.max_attempts);
        v_again := array(select m from unnest(v_messages) m where p_verb <> 'reject' and (m).attempts < g.max_attempts);
        perform weir_log.bury(q, g, v_dead, p_reason);
        if p_verb = 'nack' then
            perform weir_log.end_jobs(q, v_again, 4, null, p_reason);
        end if;
        if g.ordered and cardinality(v_again) > 0 then
            v_settled := p_ids + weir_log.retry_ordered(q, g, p_parts, p_left - p_ids, v_again, p_delay);
        else
            perform weir_log.retry(q, g, v_again, p_delay);
        end if;
    end if;
    if p_parked then
        perform weir_log.end_parked(g, case when p_verb = 'ack' then p_ids
            else (select range_agg(int8range(m.id, m.id + 1)) from unnest(v_dead) m) end, p_left);
    end if;
    d.kind := 'D';
    d.claim := (p_parts[1]).claim;
    d.n := weir_internal.count_ids(v_settled);
    d.ids := nullif(v_settled, p_left); -- null: nothing is left of the claim
    perform weir_log.append_claim(d);
    if g.limited then
        perform weir_log.wake(q);
    end if;
    return weir_internal.count_ids(p_ids);
end
$$;

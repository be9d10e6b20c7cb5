-- weir_log.settle_part(q, p_verb, p_claim, p_ids, p_delay, p_reason)
-- What weir_log.settle does, but without waiting for whoever else settles messages of the claim and without an error:
-- what cannot be done now is left.
--
-- Parameters:
--   q         the queue
--   p_verb    'ack', 'nack', 'release', 'snooze' or 'reject'
--   p_claim   the claim
--   p_ids     messages of it; '{(,)}' = all that are left
--   p_delay   snooze: before the next delivery; nack: null = the group's backoff
--   p_reason  nack, reject: kept with a dead letter
-- Returns: how many messages were settled, 0 when all of them were already; null: it is left undone.
-- Raises: WR010 when the group is dropped at this moment, WR016
-- Locks: the claim's advisory lock, tried, until the transaction ends; as weir_log.settle_messages.
create or replace function weir_log.settle_part(
    q weir_internal.queues, p_verb text, p_claim bigint, p_ids int8multirange, p_delay interval, p_reason text)
returns int
language plpgsql
as $$
declare
    g weir_internal.groups;
    s record;
    v_all boolean := p_ids = '{(,)}';
    v_ids int8multirange;
    v_n int;
begin
    if not pg_try_advisory_xact_lock(weir_internal.claim_lock(p_claim)) then
        return null;
    elsif p_verb = 'ack' then
        v_n := weir_log.ack_part(q, p_claim, case when not v_all then p_ids end);
        if v_n is not null then
            return v_n;
        end if;
    elsif v_all and p_verb = 'reject' or p_verb = 'snooze' and p_delay is null
        or p_verb in ('nack', 'snooze') and p_delay not between interval '0' and interval '10 years' then
        return null;
    end if;
    s := weir_log.claim_state(p_claim);
    if (s.parts[1]).queue_no is distinct from q.no or not v_all and not p_ids <@ s.ids then
        return null;
    end if;
    select * into g from weir_internal.groups where no = (s.parts[1]).group_no;
    if not found then
        return null;
    end if;
    v_ids := case when v_all then s.ids else p_ids end - s.done;
    if isempty(v_ids) then
        return 0;
    elsif not isempty(v_ids * s.taken) or s.deadline <= weir_internal.clock() then
        return null;
    end if;
    return weir_log.settle_messages(
        q, g, s.parts, v_ids, s.ids - s.done - s.taken, s.parked,
        case p_verb when 'snooze' then 'release' else p_verb end,
        case p_verb when 'release' then interval '0' else p_delay end,
        case when p_verb in ('nack', 'reject') then p_reason end);
end
$$;

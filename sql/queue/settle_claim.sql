-- settle_claim
-- Template of weir_internal.<q>_settle: ends a claim's hold on some of its messages, or on all: ack finishes them, nack
-- has them delivered again unless they are past their attempts, release does so without counting this delivery, reject
-- makes them dead letters. All of it happens in the caller's transaction, under the claim's lock, and only before the
-- claim's deadline.
--
-- Parameters:
--   p_claim   the claim
--   p_ids     messages of it; null = all that are left
--   p_verb    'ack', 'nack', 'release' or 'reject'
--   p_delay   nack, release: null = the group's backoff
--   p_reason  kept with a dead letter
-- Returns: how many messages were settled; 0 when all of them were already.
-- Raises: WR006, WR009, WR010, WR011, WR012, WR016
-- Locks: the group's settling lock, shared; the claim's advisory lock (shared, with one a message, for an ack of up to
-- 32 messages), until the transaction ends.
insert into weir_internal.templates (name, body) values ('settle_claim', $template$
create or replace function weir_internal.{q}_settle(
    p_claim bigint, p_ids bigint[], p_verb text, p_delay interval, p_reason text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    q weir_internal.queues;
    g weir_internal.groups;
    c weir_internal.claim;
    d weir_internal.claim;
    s record;
    v_ids int8multirange;
    v_settled int8multirange; -- with what an ordered group's nack takes along
    v_key bigint;
    v_dead weir_internal.later_row[];
    v_again weir_internal.later_row[];
begin
    perform weir_internal.check_isolation(p_verb);
    if p_claim is null or array_position(p_ids, null) is not null then
        raise exception '% of claim %, messages %: null', p_verb, coalesce(p_claim::text, 'null'), p_ids
            using errcode = 'WR006', hint = 'Give the claim_id that receive returned, and no null among the ids.';
    end if;
    -- who drops the group waits, or takes the claim from its holder first: nothing is given back to no group
    perform pg_advisory_xact_lock_shared(
        weir_internal.lock_class({no}), 16384 + ((p_claim & 16383) / ({lanes} + 1))::int);
    v_key := weir_internal.claim_lock({no}, p_claim);
    if p_verb = 'ack' and cardinality(p_ids) <= 32 then
        perform pg_advisory_xact_lock_shared(v_key);
        perform pg_advisory_xact_lock(k)
        from (select distinct weir_internal.claim_lock({no}, p_claim # i) # (1::bigint << 62) as k
              from unnest(p_ids) i order by k) l;
    else
        perform pg_advisory_xact_lock(v_key);
    end if;
    select * into s from weir_internal.{q}_claim_state(p_claim);
    c := s.c;
    v_ids := c.ids;
    if p_ids is not null then
        v_ids := coalesce((select range_agg(int8range(i, i + 1)) from unnest(p_ids) i
                           where i < 9223372036854775807), '{}');
    end if;
    if not v_ids <@ c.ids or 9223372036854775807 = any(p_ids) then
        raise exception 'claim % does not hold the messages %', p_claim,
            array(select i from unnest(p_ids) i where not i <@ c.ids)
            using errcode = 'WR011',
            hint = 'Give each message with the claim_id that it came with.';
    end if;
    v_ids := v_ids - s.done;
    if isempty(v_ids) then
        return 0;
    end if;
    if s.taken or c.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at %', p_claim, c.deadline
            using errcode = 'WR010',
            hint = 'Its messages are delivered again. Take a longer lease, or extend it while working.';
    end if;
    v_settled := v_ids;
    select * into q from weir_internal.queues where no = {no};
    select * into g from weir_internal.groups where queue_no = {no} and no = c.slot / ({lanes} + 1);
    if p_verb <> 'ack' then
        select array_agg(m) filter (where p_verb = 'reject' or (m).attempts >= g.max_attempts),
            array_agg(m) filter (where p_verb <> 'reject' and (m).attempts < g.max_attempts)
        into v_dead, v_again
        from (
            select row(null, null, id, null, attempts + c.attempt - (p_verb = 'release')::int, key, payload, headers,
                       enqueued_at, p_reason)::weir_internal.later_row
            from weir_internal.{q}_claim_messages(c, v_ids)
        ) t (m);
        if coalesce(cardinality(v_dead), 0) + coalesce(cardinality(v_again), 0) <> weir_internal.count_ids(v_ids) then
            perform weir_internal.fail_missing(q.name, p_claim, v_ids);
        end if;
        if v_dead is not null then
            perform weir_internal.bury(q, g.no, v_dead, p_reason);
        end if;
        if v_again is not null then
            if p_verb = 'nack' then
                perform weir_internal.end_jobs(q, v_again, 4, null, p_reason);
            end if;
            if g.ordered then
                v_settled := v_ids
                    + weir_internal.{q}_retry_ordered(q, g, c, c.ids - s.done - v_ids, v_again, p_delay);
            else
                perform weir_internal.{q}_retry(g, v_again, p_delay);
            end if;
        end if;
    end if;
    if g.ordered then
        perform weir_internal.{q}_end_parked(g.id, case p_verb when 'ack' then v_ids
            else (select range_agg(int8range(m.id, m.id + 1)) from unnest(v_dead) m) end, c.ids);
    end if;
    d.slot := c.slot;
    d.what := 2;
    d.id := p_claim;
    d.n := weir_internal.count_ids(v_settled);
    d.ids := nullif(v_settled, c.ids - s.done); -- null: nothing is left of the claim
    d.finished := true;
    perform weir_internal.{q}_put(d);
    return weir_internal.count_ids(v_ids);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- ack
-- Template of weir_internal."ack:<queue>": finishes a claim, or some of its messages, by appending to the claim log.
-- The claim's advisory lock keeps it from being given away while this transaction is open; an ack of some messages
-- shares it, with a lock a message, so that transactions that finish different messages of one claim do not wait for
-- each other.
--
-- Parameters:
--   p_claim  the claim
--   p_ids    messages of it; null = all of it
-- Returns: how many messages it finished; 0 when they were finished already.
-- Raises: WR006, WR009, WR010, WR011, WR012
-- Locks: the claim's advisory lock, exclusive or shared, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('ack', $template$
create or replace function weir_internal."ack:{name}"(p_claim bigint, p_ids bigint[])
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    v_slot smallint := p_claim & 16383;
    v_lock bigint := weir_internal.claim_lock({no}, p_claim);
    v_ring bigint;
    v_n int;
    v_general boolean := p_claim is null or p_ids is not null
        or current_setting('transaction_isolation') not in ('read committed', 'read uncommitted');
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if not v_general and v_slot % ({lanes} + 1) = {lanes} then
        v_general := exists (select from weir_internal.groups
                             where queue_no = {no} and no = v_slot / ({lanes} + 1) and ordered);
    end if;
    if not v_general then
        if not pg_try_advisory_xact_lock(v_lock) then
            perform pg_advisory_xact_lock(v_lock);
        end if;
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} v_ring % 2 = 0 and v_ring / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k} (slot, what, id, n, finished)
            select slot, 2, id, n, true from weir_internal.{q}_claims_{k}
            where slot = v_slot and what = 0 and id = p_claim and n > 0 and deadline > weir_internal.clock()
                and (select true from weir_internal.{q}_claims_{k} -- nothing of it is done
                     where slot = v_slot and what = 2 and id = p_claim limit 1) is null
                and (select true from weir_internal.{q}_claims_{k} -- and it does not stand in lines
                     where slot = v_slot and what = 1 and id = p_claim limit 1) is null
                and pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring
            limit 1
            returning n into v_n;
        --}
        end if;
    end if;
    if v_n is null then -- the rare cases, and the errors
        return weir_internal.{q}_settle(p_claim, p_ids, 'ack', null, null);
    end if;
    --{ {throttled}
    if pg_sequence_last_value('weir_internal.{q}_held') = 1 then
        perform weir_internal.{q}_free(v_slot);
    end if;
    --}
    return v_n;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

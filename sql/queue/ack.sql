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
    v_table int;
    v_count int;
    v_n int;
    v_deadline timestamptz;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    if p_claim is null or p_ids is not null
        or current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        return weir_internal.{q}_settle(p_claim, p_ids, 'ack', null, null);
    end if;
    if not pg_try_advisory_xact_lock(v_lock) then
        perform pg_advisory_xact_lock(v_lock);
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
        --{ 3
        {if} v_table = {k} then
            select count(*), max(n) filter (where what = 0), max(deadline) into v_count, v_n, v_deadline
            from generate_series(0, 3) w -- one descent each: "in" may walk all claims of the slot
            cross join lateral (
                select what, n, deadline from weir_internal.{q}_claims_{k}
                where slot = v_slot and what = w and id = p_claim offset 0
            ) e;
        --}
        end if;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
    if v_count <> 1 or v_n is null or v_n = 0 or v_deadline <= weir_internal.clock()
        or v_slot % ({lanes} + 1) = {lanes}
        and exists (select from weir_internal.groups
                    where queue_no = {no} and no = v_slot / ({lanes} + 1) and ordered) then
        return weir_internal.{q}_settle(p_claim, null, 'ack', null, null); -- the rare cases, and the errors
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k} (slot, what, id, n, finished)
            select v_slot, 2, p_claim, v_n, true
            where pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
        --}
        end if;
        if found then
            --{ {throttled}
            if pg_sequence_last_value('weir_internal.{q}_held') = 1 then
                perform weir_internal.{q}_free(v_slot);
            end if;
            --}
            return v_n;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- extend_many
-- Template of weir_internal."extend_many:<queue>": the extends of many consumers in one call and one commit; as
-- ack_many, it does those that are plain.
--
-- Parameters:
--   p_claims    claims; one may occur several times
--   p_leases    for each claim, its new time from now
--   p_requests  null, or for each claim the request it belongs to: a request is done whole or not at all
-- Returns: one element a claim: its deadline; null = not done, ask again by extend, which says why.
-- Raises: WR006, WR012
-- Locks: the claims' advisory locks, tried, until the transaction ends; ROW EXCLUSIVE on the claim log.
insert into weir_internal.templates (name, body) values ('extend_many', $template$
create or replace function weir_internal."extend_many:{name}"(
    p_claims bigint[], p_leases interval[], p_requests int[])
returns timestamptz[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
    h record;
    v_now timestamptz;
    v_out timestamptz[];
    v_refused int[];
    v_ring bigint;
begin
    if {restored} then
        perform weir_internal.fail_restored('{name}');
    end if;
    perform weir_internal.check_many('extend', p_claims, cardinality(p_leases), p_requests);
    select * into h from weir_internal.{q}_held(p_claims);
    v_now := weir_internal.clock();
    v_out := array(
        select case when u.held is not null
                and u.lease between interval '1 millisecond' and interval '7 days'
            then greatest(u.deadline, v_now + u.lease) end
        from unnest(h.held, h.deadline, p_leases) u (held, deadline, lease));
    v_refused := array(select u.request from unnest(v_out, p_requests) u (ends, request) where u.ends is null);
    v_out := array(select case when u.request = any(v_refused) is not true then u.ends end
                   from unnest(v_out, p_requests) u (ends, request));
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k} (slot, what, id, deadline)
            select u.claim & 16383, 3, u.claim, u.ends
            from unnest(p_claims, v_out) u (claim, ends)
            where u.ends is not null and (select pg_sequence_last_value('weir_internal.{q}_claims_ring')) = v_ring;
        --}
        end if;
        exit when found or not exists (select from unnest(v_out) e where e is not null);
    end loop;
    return v_out;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

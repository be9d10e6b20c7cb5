-- held
-- Template of weir_internal.<q>_held: locks claims as far as that can be done without waiting, and tells what is left
-- of each.
--
-- Parameters:
--   p_claims  claims; one may occur several times
-- Returns: one element a claim, in their order: held, the messages that its holder has yet to settle, null when it is
--   locked by another transaction, expired, finished or not there; n, how many they are; deadline, as extended;
--   touched, whether something was recorded about the claim since it was made.
-- Raises: none
-- Locks: the claims' advisory locks, tried, until the transaction ends; ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('held', $template$
create or replace function weir_internal.{q}_held(
    p_claims bigint[], out held int8multirange[], out n int[], out deadline timestamptz[], out touched boolean[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_locked boolean[] := array(
        select pg_try_advisory_xact_lock(weir_internal.claim_lock({no}, u)) from unnest(p_claims) u);
    v_now timestamptz := weir_internal.clock();
    v_ring bigint;
    v_table int;
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
        --{ 3
        {if} v_table = {k} then
            select array_agg(case when live then s.ids - coalesce(d.done, '{}') end),
                array_agg(case when d.done is null then s.n else s.n - weir_internal.count_ids(d.done) end),
                array_agg(s.deadline), array_agg(s.rows > 1)
            into held, n, deadline, touched
            from unnest(p_claims, v_locked) u (claim, locked)
            cross join lateral (
                select (array_agg(e.ids) filter (where e.what = 0))[1] as ids,
                    max(e.n) filter (where e.what = 0) as n, max(e.deadline) as deadline, count(*) as rows,
                    coalesce(bool_or(e.ids is null or not e.finished) filter (where e.what = 2), false) as over
                from generate_series(0, 3) w -- one descent each: "in" may walk all claims of the slot
                cross join lateral (
                    select * from weir_internal.{q}_claims_{k} t
                    where t.slot = (u.claim & 16383)::smallint and t.what = w and t.id = u.claim offset 0
                ) e
            ) s
            left join lateral (
                select range_agg(m) as done
                from weir_internal.{q}_claims_{k} e cross join lateral unnest(e.ids) m
                where s.rows > 1 and e.slot = (u.claim & 16383)::smallint and e.what = 2 and e.id = u.claim
            ) d on true
            cross join lateral (
                select u.locked and not s.over and s.deadline > v_now and not s.ids <@ coalesce(d.done, '{}') as live
            ) l;
        --}
        end if;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- claim_state
-- Template of weir_internal.<q>_claim_state: what the claim log says of a claim: the claim itself, what its holder has
-- finished of it, whether it was given away, and its deadline as extended.
--
-- Parameters:
--   p_claim  the claim
-- Returns: one row: c, the claim with its deadline as extended; done, the ids its holder finished; taken, true when the
-- rest was given away.
-- Raises: WR009, WR010
-- Locks: ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('claim_state', $template$
create or replace function weir_internal.{q}_claim_state(
    p_claim bigint, out c weir_internal.claim, out done int8multirange, out taken boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
    v_ring bigint;
    v_slot smallint := p_claim & 16383;
    s record;
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        select row(o.*)::weir_internal.claim as claim, x.deadline, d.done, d.taken, m.src into s
        from weir_internal.{q}_claims_2 o
        cross join lateral (
            select max(e.deadline) as deadline from weir_internal.{q}_claims_2 e
            where e.slot = v_slot and e.what = 3 and e.id = p_claim) x
        cross join lateral (
            select range_agg(r) filter (where e.finished) as done,
                coalesce(bool_or(not e.finished), false) as taken
            from weir_internal.{q}_claims_2 e left join lateral unnest(coalesce(e.ids, o.ids)) r on true
            where e.slot = v_slot and e.what = 2 and e.id = p_claim) d
        left join lateral (
            select e.src from weir_internal.{q}_claims_2 e
            where e.slot = v_slot and e.what = 1 and e.id = p_claim
            order by (e.src).seg desc limit 1) m on true
        where o.slot = v_slot and o.what = 0 and o.id = p_claim and o.n > 0
        limit 1;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
    c := s.claim;
    if c.id is null then
        if p_claim >> 14 not between 1 and coalesce(pg_sequence_last_value('weir_internal.{q}_claim_ids'), 0) then
            raise exception 'there is no claim %', p_claim
                using errcode = 'WR009', hint = 'Give a claim_id that receive returned for this queue.';
        end if;
        raise exception 'claim % is not held any more', p_claim
            using errcode = 'WR010',
            hint = 'It was finished, or given to another consumer, some time ago. Receive again.';
    end if;
    c.src := coalesce(s.src, c.src);
    c.deadline := greatest(c.deadline, s.deadline);
    done := coalesce(s.done, '{}');
    taken := s.taken;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

-- weir_internal.claim_state(p_queue, p_claim)
-- What the claim log says of a claim: the claim itself, what its holder has finished of it, whether it was given away,
-- and its deadline as extended.
--
-- Parameters:
--   p_queue  queue number
--   p_claim  the claim
-- Returns: one row: c, the claim with its deadline as extended; done, the ids its holder finished; taken, true when the
-- rest was given away.
-- Raises: WR009, WR010
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.claim_state(
    p_queue int, p_claim bigint, out c weir_internal.claim, out done int8multirange, out taken boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ring bigint;
    v_name text := format('weir_internal.q%s_claims_ring', p_queue);
    v_last bigint;
    s record;
begin
    loop
        v_ring := pg_sequence_last_value(v_name);
        execute format(
            'select row(o.*)::weir_internal.claim as claim, x.deadline, d.done, d.taken, m.src
             from weir_internal.q%1$s_claims_2 o
             cross join lateral (select max(e.deadline) as deadline from weir_internal.q%1$s_claims_2 e
                                 where e.slot = o.slot and e.what = 3 and e.id = o.id) x
             cross join lateral (select range_agg(m) filter (where e.finished) as done,
                                     coalesce(bool_or(not e.finished), false) as taken
                                 from weir_internal.q%1$s_claims_2 e
                                 left join lateral unnest(coalesce(e.ids, o.ids)) m on true
                                 where e.slot = o.slot and e.what = 2 and e.id = o.id) d
             left join lateral (select e.src from weir_internal.q%1$s_claims_2 e
                                where e.slot = o.slot and e.what = 1 and e.id = o.id
                                order by (e.src).seg desc limit 1) m on true
             where o.slot = $1 and o.what = 0 and o.id = $2 and o.n > 0
             limit 1', p_queue)
        into s
        using (p_claim & 16383)::smallint, p_claim;
        exit when pg_sequence_last_value(v_name) = v_ring;
    end loop;
    c := s.claim;
    if c.id is null then
        v_last := pg_sequence_last_value(format('weir_internal.q%s_claim_ids', p_queue));
        if p_claim >> 14 not between 1 and coalesce(v_last, 0) then
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
$$;

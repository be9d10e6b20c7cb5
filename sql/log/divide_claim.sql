-- weir_log.divide_claim(g, p_claim, p_ids, p_leases)
-- Shares a claim out among several consumers, each part a claim of its own with its own deadline. The caller has made
-- the claim in this transaction, has shown it to nobody, and still holds the locks of its cursors.
--
-- Parameters:
--   g         the group
--   p_claim   the claim, which ends here
--   p_ids     what each part holds; together, all that is left of the claim
--   p_leases  how long each lasts from now
-- Returns: the claims that take its place, one a part.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.divide_claim(
    g weir_internal.groups, p_claim bigint, p_ids int8multirange[], p_leases interval[])
returns bigint[]
language plpgsql
as $$
declare
    o weir_internal.claim;
    c weir_internal.claim;
    d weir_internal.claim;
    v_claims bigint[] := array_fill(null::bigint, array[cardinality(p_ids)]);
    v_now timestamptz := weir_internal.clock();
begin
    foreach o in array (weir_log.claim_state(p_claim)).parts loop
        c := weir_log.cursor(g, o.lane, o.stripe); -- the new rows carry it on
        c.src := coalesce(o.src, row(o.seg, o.lane, o.from_txid, o.from_pos, o.txid, o.pos)::weir_internal.source);
        c.attempt := o.attempt;
        c.claimed_at := v_now;
        c.pid := o.pid;
        c.limited := o.limited;
        for i in 1 .. cardinality(p_ids) loop
            c.ids := o.ids * p_ids[i];
            continue when isempty(c.ids);
            c.id := nextval('weir_internal.claim_numbers');
            v_claims[i] := coalesce(v_claims[i], c.id);
            c.claim := v_claims[i];
            c.n := weir_internal.count_ids(c.ids);
            c.deadline := v_now + p_leases[i];
            c.next_expiry := least(c.next_expiry, c.deadline);
            if random() < 0.0625 then -- see lease
                c.low := weir_log.advance_low(c, c.id);
            end if;
            perform weir_log.append_claim(c);
        end loop;
    end loop;
    d.kind := 'x';
    d.claim := p_claim;
    d.ids := (select range_agg(m) from unnest(p_ids) p cross join lateral unnest(p) m);
    d.n := weir_internal.count_ids(d.ids);
    perform weir_log.append_claim(d);
    return v_claims;
end
$$;

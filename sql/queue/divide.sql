-- divide
-- Template of weir_internal.<q>_divide: shares a claim out among several consumers, each part a claim of its own with
-- its own deadline. The caller has made the claim in this transaction, has shown it to nobody, and still holds the
-- lock of its lane.
--
-- Parameters:
--   p_claim   the claim, which ends here
--   p_parts   the claims that take its place
--   p_ids     what each of them holds; together, all of the claim
--   p_leases  how long each lasts from now
-- Returns: nothing.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
insert into weir_internal.templates (name, body) values ('divide', $template$
create or replace function weir_internal.{q}_divide(
    p_claim bigint, p_parts bigint[], p_ids int8multirange[], p_leases interval[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim := weir_internal.{q}_cursor((p_claim & 16383)::smallint);
    o weir_internal.claim := c;
    d weir_internal.claim;
    v_now timestamptz := weir_internal.clock();
    v_rows weir_internal.claim[];
    v_ring bigint;
begin
    if c.id <> p_claim then -- another of this transaction carries the lane's cursor on
        select * into o from weir_internal.{q}_claims_2 where slot = c.slot and what = 0 and id = p_claim limit 1;
    end if;
    d.slot := c.slot;
    d.what := 2;
    d.id := p_claim;
    d.n := o.n;
    d.finished := false;
    v_rows := array[d];
    c.src := coalesce(o.src,
        row(o.prev, o.cur, o.seg, o.from_txid, o.from_pos, o.txid, o.pos)::weir_internal.claim_range);
    c.attempt := o.attempt;
    c.claimed_at := null;
    for i in 1 .. cardinality(p_parts) loop
        c.id := p_parts[i];
        c.ids := p_ids[i];
        c.n := weir_internal.count_ids(c.ids);
        c.deadline := v_now + p_leases[i];
        c.next_expiry := least(c.next_expiry, c.deadline);
        v_rows := v_rows || c;
    end loop;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k}
            select * from unnest(v_rows) -- looked at once for all rows, so that all of them go in or none
            where (select pg_sequence_last_value('weir_internal.{q}_claims_ring')) = v_ring;
        --}
        end if;
        exit when found;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

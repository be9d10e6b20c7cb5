-- divide
-- Template of weir_internal.<q>_divide: shares a claim out among several consumers, each part a claim of its own with
-- its own deadline. The caller has made the claim in this transaction, has shown it to nobody, and still holds the
-- lock of its lane.
--
-- Parameters:
--   p_claim   the claim, which ends here
--   p_parts   the claims that take its place
--   p_ids     what each of them holds; together, all of the claim
--   p_counts  how many messages that are
--   p_leases  how long each lasts from now
-- Returns: nothing.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on the open table of the claim log.
insert into weir_internal.templates (name, body) values ('divide', $template$
create or replace function weir_internal.{q}_divide(
    p_claim bigint, p_parts bigint[], p_ids int8multirange[], p_counts int[], p_leases interval[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim := weir_internal.{q}_cursor((p_claim & 16383)::smallint);
    o weir_internal.claim := c;
    d weir_internal.claim;
    v_now timestamptz := weir_internal.clock();
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
    c.src := coalesce(o.src,
        row(o.prev, o.cur, o.seg, o.from_txid, o.from_pos, o.txid, o.pos)::weir_internal.claim_range);
    c.next_expiry := least(c.next_expiry, v_now + (select min(l) from unnest(p_leases) l));
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k}
            select r.*
            from (
                select d.*
                union all
                select c.slot, c.what, u.part, c.prev, c.cur, c.lo, c.seg, c.from_txid, c.from_pos, c.txid, c.pos,
                    c.finished, c.due_at, c.due_id, c.src, u.ids, u.n, o.attempt, v_now, v_now + u.lease, c.low,
                    c.next_expiry, c.total, o.pid
                from unnest(p_parts, p_ids, p_counts, p_leases) u (part, ids, n, lease)
            ) r -- the ring is looked at once for all rows, so that all of them go in or none
            where (select pg_sequence_last_value('weir_internal.{q}_claims_ring')) = v_ring;
        --}
        end if;
        exit when found;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

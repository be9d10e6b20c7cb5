-- tally
-- Template of weir_internal.<q>_tally: which claims of a group with a concurrency_max, of its own or per key, are
-- unfinished. The newest row of the pseudo-slot -2 - group number in the claim log lists those that were when it was
-- written; it is written by whoever has the group's turn, with what he claims (<q>_count), and no claim is made
-- without. So each claim is looked at while it is on the list, and never again. Only queues with limited groups have
-- these functions.
--
-- Parameters:
--   p_group   number of the group
--   p_now     time against which leases expire
--   g         count: the group
--   t         count: its turn, see <q>_turn
--   p_out     count: the records claimed
--   p_claims  count_parts: the claims that took the place of some of those
-- Returns: tally: the unfinished claims; lefts, how many messages each still has; over, whether its lease has expired;
--   rests, those messages.
-- Raises: WR016
-- Locks: ACCESS SHARE on the claim log; count, count_parts: ROW EXCLUSIVE on its open table.
insert into weir_internal.templates (name, body) values ('tally', $template$
--{ {throttled}
create or replace function weir_internal.{q}_tally(
    p_group smallint, p_now timestamptz, out claims bigint[], out lefts int[], out over boolean[],
    out rests int8multirange[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_claims int8multirange := (weir_internal.{q}_cursor((-2 - p_group)::smallint)).ids;
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        select array_agg(u.id), array_agg(l.n), array_agg(greatest(c.deadline, x.deadline) <= p_now),
            array_agg(l.rest)
        into claims, lefts, over, rests
        from (select lower(r) as id, (lower(r) & 16383)::smallint as slot from unnest(v_claims) r) u
        cross join lateral ( -- not there: finished long ago
            select e.ids, e.deadline from weir_internal.{q}_claims_2 e
            where e.slot = u.slot and e.what = 0 and e.id = u.id limit 1) c
        cross join lateral (
            select bool_or(e.ids is null) as whole, range_agg(m) as done
            from weir_internal.{q}_claims_2 e left join lateral unnest(e.ids) m on true
            where e.slot = u.slot and e.what = 2 and e.id = u.id) d
        cross join lateral (
            select max(e.deadline) as deadline from weir_internal.{q}_claims_2 e
            where e.slot = u.slot and e.what = 3 and e.id = u.id) x
        cross join lateral (select r as rest, weir_internal.count_ids(r) as n
                            from (select c.ids - coalesce(d.done, '{}') as r) e) l
        where d.whole is not true and l.n > 0;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
end
$body$;
create or replace function weir_internal.{q}_count(
    g weir_internal.groups, t weir_internal.claim, p_out weir.message_record[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_claims int8multirange;
    v_n bigint;
begin
    select range_agg(int8range(o.claim_id, o.claim_id + 1)), sum(o.n) into v_claims, v_n from unnest(p_out) o;
    if g.rate_max is not null then
        perform setval(('weir_internal.{q}_rate_' || g.id)::regclass, t.pos + v_n * weir_internal.rate_step(g));
    end if;
    if coalesce(g.concurrency_max, g.key_concurrency_max) is not null then
        t.id := nextval('weir_internal.{q}_claim_ids') * 16384;
        t.ids := t.ids + v_claims;
        perform weir_internal.{q}_put(t);
    end if;
end
$body$;
create or replace function weir_internal.{q}_count_parts(p_group smallint, p_claims bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    t weir_internal.claim := weir_internal.{q}_cursor((-2 - p_group)::smallint);
begin
    t.id := nextval('weir_internal.{q}_claim_ids') * 16384;
    t.ids := t.ids + (select range_agg(int8range(u, u + 1)) from unnest(p_claims) u);
    perform weir_internal.{q}_put(t);
end
$body$
--}
$template$) on conflict (name) do update set body = excluded.body;

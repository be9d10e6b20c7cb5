-- unfinished
-- Template of weir_internal.<q>_unfinished: the claims of a slot that still have messages to answer for, expired or
-- not.
--
-- Parameters:
--   p_slot  the slot
--   p_low   the slot's low-water mark: nothing below it is looked at
--   p_until only claims whose deadline is not later; 'infinity' = all
--   p_max   at most so many
-- Returns: the claims, oldest first, with ids and n reduced to what is not done yet and the deadline as extended.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('unfinished', $template$
create or replace function weir_internal.{q}_unfinished(p_slot smallint, p_low bigint, p_until timestamptz, p_max int)
returns setof weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim;
    v_ring bigint;
    v_table int;
    v_out weir_internal.claim[];
    v_seen bigint;
    v record;
begin
    loop
        v_out := '{}';
        v_seen := 0;
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
        --{ 3
        {if} v_table = {k} then
            for v in
                select o as claim, d.whole, d.done, x.deadline, m.src
                from weir_internal.{q}_claims_{k} o
                cross join lateral (
                    select bool_or(e.ids is null) as whole, range_agg(m) as done
                    from weir_internal.{q}_claims_{k} e left join lateral unnest(e.ids) m on true
                    where e.slot = o.slot and e.what = 2 and e.id = o.id
                ) d
                cross join lateral (
                    select max(e.deadline) as deadline
                    from weir_internal.{q}_claims_{k} e
                    where e.slot = o.slot and e.what = 3 and e.id = o.id
                ) x
                left join lateral (
                    select e.src from weir_internal.{q}_claims_{k} e
                    where e.slot = o.slot and e.what = 1 and e.id = o.id
                    order by (e.src).seg desc limit 1
                ) m on true
                where o.slot = p_slot and o.what = 0 and o.id >= p_low and o.n > 0
                order by o.id
            loop
                c := v.claim;
                continue when v.whole or c.id = v_seen; -- a claim carried over stands in both tables for a while
                v_seen := c.id;
                c.ids := c.ids - coalesce(v.done, '{}');
                c.src := coalesce(v.src, c.src);
                c.deadline := greatest(c.deadline, v.deadline);
                continue when isempty(c.ids) or c.deadline > p_until;
                c.n := weir_internal.count_ids(c.ids);
                v_out := v_out || c;
                exit when cardinality(v_out) >= p_max;
            end loop;
        --}
        end if;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
    return query select * from unnest(v_out);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

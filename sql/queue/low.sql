-- low
-- Template of weir_internal.<q>_low: moves a slot's low-water mark over finished claims. It stops at the first
-- unfinished one, so that over the life of a slot each claim is passed once. Of a claim that concurrent transactions
-- finished piecewise no row tells that nothing is left: its pieces are added up.
--
-- Parameters:
--   p_slot  the slot
--   p_low   the mark so far
--   p_next  the mark when nothing is unfinished
-- Returns: the new mark.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('low', $template$
create or replace function weir_internal.{q}_low(p_slot smallint, p_low bigint, p_next bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_low bigint;
    v_ring bigint := pg_sequence_last_value('weir_internal.{q}_claims_ring');
begin
    if v_ring % 2 = 1 then
        return p_low;
    end if;
    --{ 2
    {if} v_ring / 2 % 2 = {k} then
        select c.id into v_low
        from weir_internal.{q}_claims_{k} c
        where c.slot = p_slot and c.what = 0 and c.id >= p_low and c.n > 0
            -- not "not exists": that may become a join on slot alone
            and (select true from weir_internal.{q}_claims_{k} d
                 where d.slot = c.slot and d.what = 2 and d.id = c.id and d.ids is null limit 1) is null
            and (select c.ids <@ range_agg(m)
                 from weir_internal.{q}_claims_{k} d cross join lateral unnest(d.ids) m
                 where d.slot = c.slot and d.what = 2 and d.id = c.id) is not true
        order by c.id limit 1;
    --}
    end if;
    if pg_sequence_last_value('weir_internal.{q}_claims_ring') <> v_ring then
        return p_low;
    end if;
    return coalesce(v_low, p_next);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

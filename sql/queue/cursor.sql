-- cursor
-- Template of weir_internal.<q>_cursor: the newest claim of a slot, which is the cursor of its lane. While the ring of
-- the claim log turns, both tables are read (the view <q>_claims_2); the ring's state is looked at again afterwards, as
-- a reader of a seqlock does.
--
-- Parameters:
--   p_slot  group number * (lanes + 1) + lane
-- Returns: the claim. Every slot has one from the group's creation.
-- Raises: WR003, WR016
-- Locks: ACCESS SHARE on the claim log.
insert into weir_internal.templates (name, body) values ('cursor', $template$
create or replace function weir_internal.{q}_cursor(p_slot smallint)
returns weir_internal.claim
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim;
    v_ring bigint;
    v_table int;
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        v_table := case when v_ring % 2 = 1 then 2 else v_ring / 2 % 2 end;
        --{ 3
        {if} v_table = {k} then
            select * into c from weir_internal.{q}_claims_{k}
            where slot = p_slot and what = 0 order by id desc limit 1;
        --}
        end if;
        exit when pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    end loop;
    if c.id is null then
        if not exists (select from weir_internal.groups where queue_no = {no} and no = p_slot / ({lanes} + 1)) then
            raise exception 'the group of slot % of queue "{name}" was dropped at this moment', p_slot
                using errcode = 'WR003', hint = 'Create the group again, or call no more.';
        end if;
        raise exception 'queue "{name}" has no cursor for slot %', p_slot
            using errcode = 'WR016', hint = 'The claim log was emptied from outside. Create the group again.';
    end if;
    return c;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

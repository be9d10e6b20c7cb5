-- put
-- Template of weir_internal.<q>_put: appends a row to the open table of the claim log.
--
-- Parameters:
--   c  the row
-- Returns: its id.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table of the claim log, until the transaction ends.
insert into weir_internal.templates (name, body) values ('put', $template$
create or replace function weir_internal.{q}_put(c weir_internal.claim)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_claims_ring');
        --{ 2
        {if} (v_ring + 1) / 2 % 2 = {k} then
            insert into weir_internal.{q}_claims_{k}
            select c.* where pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
        --}
        end if;
        if found then
            --{ {throttled}
            if pg_sequence_last_value('weir_internal.{q}_held') = 1 and c.what = 2 then
                perform weir_internal.{q}_free(c.slot);
            end if;
            --}
            return c.id;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

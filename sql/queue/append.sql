-- append
-- Template of weir_internal.<q>_append: puts one record into the queue's open segment, as `send` does and for the same
-- reasons.
--
-- Parameters:
--   r  the record; its txid and enqueued_at are set here when null
-- Returns: the number of the segment.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
insert into weir_internal.templates (name, body) values ('append', $template$
create or replace function weir_internal.{q}_append(r weir_internal.log_record)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_ring bigint;
begin
    r.txid := pg_current_xact_id();
    if r.enqueued_at is null then
        r.enqueued_at := weir_internal.clock();
    end if;
    loop
        v_ring := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} v_ring % 3 = {k} then
            insert into weir_internal.{q}_log_{k}
            select r.* where pg_sequence_last_value('weir_internal.{q}_log_ring') = v_ring;
        --}
        end if;
        if found then
            if pg_sequence_last_value('weir_internal.{q}_waiting') = 1 then
                perform weir_internal.{q}_wake();
            end if;
            return v_ring;
        end if;
    end loop;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;

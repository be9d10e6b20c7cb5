-- weir_internal.fail_restored(p_queue)
-- Refuses a call on a queue that came into this database by a dump and was not adopted: the snapshots and transaction
-- ids in its tables are those of another cluster.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: never.
-- Raises: WR019
-- Locks: none
create or replace function weir_internal.fail_restored(p_queue text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception 'queue "%" came here in a dump', p_queue
        using errcode = 'WR019', hint = case
            when exists (select from weir_internal.queues where name = p_queue) then 'select weir.adopt()'
            else 'Its rows were not restored with it. Drop the schemas weir and weir_internal, and install again.' end;
end
$$;

-- weir_internal.lock_queue(p_queue)
-- A queue by its name, kept from being administered by others.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: its row.
-- Raises: WR001, WR019
-- Locks: the queue's administration, until the transaction ends.
create or replace function weir_internal.lock_queue(p_queue text)
returns weir_internal.queues
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
begin
    loop
        perform pg_advisory_xact_lock(weir_internal.admin_lock(q.no));
        if exists (select from weir_internal.queues w where w.no = q.no and w.name = p_queue) then
            return weir_internal.find_queue(p_queue);
        end if;
        q := weir_internal.find_queue(p_queue); -- another has got the name meanwhile
    end loop;
end
$$;

-- weir_internal.find_queue(p_queue)
-- A queue by its name.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: its row.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_internal.find_queue(p_queue text)
returns weir_internal.queues
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
begin
    select * into q from weir_internal.queues where name = p_queue;
    if not found then
        perform weir_internal.fail_unknown(p_queue);
    end if;
    if q.birth <> weir_internal.birth_of(q.no) then
        perform weir_internal.fail_restored(q.name);
    end if;
    return q;
end
$$;

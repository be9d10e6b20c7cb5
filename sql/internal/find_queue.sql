-- weir_internal.find_queue(p_queue)
-- A queue by its name, whatever log it is in.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: its row.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_internal.find_queue(p_queue text)
returns weir_internal.queues
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
begin
    select w.* into q from weir_internal.queues w where w.name = p_queue;
    if not found then
        perform weir_internal.fail_unknown(p_queue);
    elsif exists (select from weir_internal.logs l
                  where l.no in (q.log_no, q.moving_from) and weir_internal.origin_of(l.schema_name)
                      is distinct from case l.no when q.log_no then q.origin else q.moving_origin end)
    then
        raise exception 'queue "%" came here in a dump', p_queue
            using errcode = 'WR019', hint = 'select weir.adopt()';
    end if;
    return q;
end
$$;

-- weir_internal.end_parked(q, g, p_ids)
-- Takes messages that are done with out of their lines; the next of each line is at its head then.
--
-- Parameters:
--   q      the queue
--   g      the ordered group
--   p_ids  the messages; those that are not parked do not matter
-- Returns: nothing.
-- Raises: none
-- Locks: the rows, until the transaction ends.
create or replace function weir_internal.end_parked(
    q weir_internal.queues, g weir_internal.groups, p_ids int8multirange)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        'delete from weir_internal.q%s_parked p using unnest($2) r
         where p.group_id = $1 and p.id >= lower(r) and p.id < upper(r)', q.no)
    using g.id, p_ids;
end
$$;

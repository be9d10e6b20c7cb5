-- weir.list_workflows(queue_name, max, before)
-- Lists a queue's workflows, chains and batches, the newest first: those that run, and those that ended no longer ago
-- than the queue's job_retention.
--
-- Parameters:
--   queue_name  the queue
--   max         1 to 1,000 rows at most
--   before      only workflows below this: to page on, give the last one of the page before; null: from the newest
-- Returns: one row a workflow, see weir.workflow_status.
-- Raises: WR001, WR006
-- Locks: none
create or replace function weir.list_workflows(queue_name text, max int default 100, before bigint default null)
returns setof weir.workflow_status
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    if has_schema_privilege('weir_log', 'usage') then
        return query select * from weir_internal.workflows(queue_name, max, before);
    else
        return query execute 'select * from ' || weir_internal.gate('workflows', queue_name) || '($1, $2)'
        using max, before;
    end if;
end
$$;
